#include "bench/scenarios/answer_checks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "host/engine/request_resolution.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostProblems = 5;

// The rules that the answers to a shape must keep, resolved once.
struct Rules {
  RequestVector workers;
  std::optional<RequestVector> leader;
  std::int32_t required_level = -1;
  std::int32_t slice_level = -1;
  std::int64_t slice_size = 1;
};

Rules RulesOf(const GangShape& shape, const FlavorSnapshot& snapshot) {
  Rules rules;
  rules.workers = BindRequests(shape.workers.requests, snapshot);
  if (shape.leader) rules.leader = BindRequests(shape.leader->requests, snapshot);
  const auto& request = shape.workers.topology_request;
  if (!request) return rules;
  if (request->required) rules.required_level = snapshot.FindLevel(*request->required);
  if (request->slice_topology) {
    rules.slice_level = snapshot.FindLevel(*request->slice_topology);
    rules.slice_size = request->slice_size.value_or(1);
  }
  return rules;
}

class Checker {
 public:
  explicit Checker(const CheckInput& input)
      : input_(input), snapshot_(input.before.snapshot()), left_(input.before.remaining()) {
    for (const GangShape& shape : input.shapes) rules_.push_back(RulesOf(shape, snapshot_));
  }

  std::vector<std::string> Run() && {
    if (input_.answers.status.size() != input_.gangs.size() ||
        input_.answers.share_end.size() != input_.gangs.size()) {
      return {fmt::format("{} answers for {} gangs", input_.answers.status.size(),
                          input_.gangs.size())};
    }
    for (std::size_t gang = 0; gang < input_.gangs.size(); ++gang) {
      if (problems_.size() == kMostProblems) break;
      CheckGang(gang);
    }
    if (input_.after != nullptr && problems_.empty()) CompareAfter();
    return std::move(problems_);
  }

 private:
  void CheckGang(std::size_t gang) {
    const auto shares = input_.answers.SharesOf(gang);
    const Rules& rules = rules_[static_cast<std::size_t>(input_.gangs[gang].shape)];
    if (input_.answers.status[gang] != PlacementStatus::kPlaced) {
      if (!shares.empty()) Wrong(gang, "is not placed but has pods");
      return;
    }
    std::int64_t pods = 0;
    std::int64_t leaders = 0;
    for (const LeafShare& share : shares) {
      if (share.leaf.value < 0 || share.leaf.value >= snapshot_.leaf_count()) {
        return Wrong(gang,
                     fmt::format("has pods on leaf {}, which does not exist", share.leaf.value));
      }
      pods += share.pods;
      leaders += share.leaders;
      if (share.pods < 0 || share.leaders < 0) Wrong(gang, "has fewer than no pods on a leaf");
    }
    const std::int64_t wanted_leaders = rules.leader ? 1 : 0;
    if (pods != input_.gangs[gang].pods || leaders != wanted_leaders) {
      Wrong(gang, fmt::format("has {} pods and {} leaders placed of {} and {}", pods, leaders,
                              input_.gangs[gang].pods, wanted_leaders));
    }
    CheckLevels(gang, rules, shares);
    Book(gang, rules, shares, 1);
    if (!input_.in_order) Book(gang, rules, shares, -1);
  }

  void CheckLevels(std::size_t gang, const Rules& rules, std::span<const LeafShare> shares) {
    if (rules.required_level >= 0) {
      for (const LeafShare& share : shares) {
        if (snapshot_.Ancestor(share.leaf, rules.required_level).value !=
            snapshot_.Ancestor(shares.front().leaf, rules.required_level).value) {
          return Wrong(gang, "is in more than one domain of its required level");
        }
      }
    }
    if (rules.slice_level < 0) return;
    std::map<std::int32_t, std::int64_t> pods;
    for (const LeafShare& share : shares) {
      pods[snapshot_.Ancestor(share.leaf, rules.slice_level).value] += share.pods;
    }
    for (const auto& [domain, count] : pods) {
      if (count % rules.slice_size != 0) return Wrong(gang, "has a slice in more than one domain");
    }
  }

  // Takes what the gang got, or gives it back with sign -1.
  void Book(std::size_t gang, const Rules& rules, std::span<const LeafShare> shares, int sign) {
    for (const LeafShare& share : shares) {
      Take(gang, rules.workers, share.leaf, share.pods * sign);
      if (share.leaders != 0) Take(gang, *rules.leader, share.leaf, share.leaders * sign);
    }
  }

  void Take(std::size_t gang, const RequestVector& requests, LeafId leaf, std::int64_t pods) {
    if (pods == 0) return;
    for (std::size_t i = 0; i < requests.columns.size(); ++i) {
      const Amount taken = SaturatingMultiply(requests.amounts[i], pods);
      if (taken == 0) continue;
      if (requests.columns[i] < 0) {
        Wrong(gang, fmt::format("is placed but no node has {}", requests.names[i]));
        continue;
      }
      Amount& left =
          left_[static_cast<std::size_t>(requests.columns[i] * snapshot_.stride() + leaf.value)];
      left = SaturatingSubtract(left, taken);
      if (taken > 0 && left < 0 && (input_.pod_slots || requests.names[i] != kPodsResource)) {
        Wrong(gang, fmt::format("takes more {} of leaf {} than it has left", requests.names[i],
                                leaf.value));
      }
    }
  }

  void CompareAfter() {
    for (std::size_t column = 0; column < snapshot_.resources().size(); ++column) {
      const auto begin = static_cast<std::int64_t>(column) * snapshot_.stride();
      if (!std::equal(left_.begin() + begin, left_.begin() + begin + snapshot_.leaf_count(),
                      input_.after->remaining().begin() + begin)) {
        problems_.push_back(fmt::format("what is left of {} is not what the answers leave",
                                        snapshot_.resources()[column]));
      }
    }
  }

  void Wrong(std::size_t gang, const std::string& problem) {
    if (problems_.size() < kMostProblems) {
      problems_.push_back(fmt::format("gang {} {}", gang, problem));
    }
  }

  const CheckInput& input_;
  const FlavorSnapshot& snapshot_;
  std::vector<Rules> rules_;
  PagedArray<Amount> left_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> CheckAnswers(const CheckInput& input) { return Checker(input).Run(); }

}  // namespace espalier
