#include "host/nested/nested_answer.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/assignments.hpp"

namespace espalier {
namespace {

std::size_t At(std::int32_t step) { return static_cast<std::size_t>(step); }

// The steps right below one, in declared order.
std::vector<std::int32_t> ChildrenOf(const NestedSteps& steps, std::int32_t step) {
  std::vector<std::int32_t> children;
  for (std::int32_t s = step + 1; s < steps.steps[At(step)].end; s = steps.steps[At(s)].end) {
    children.push_back(s);
  }
  std::ranges::sort(children, {}, [&](std::int32_t s) {
    return std::pair(steps.sources[At(s)].position, steps.sources[At(s)].copy);
  });
  return children;
}

// The group around a pod set that says where its ranks go, if one does.
const NestedStep* RankedGroupOf(const NestedSteps& steps, std::int32_t step) {
  for (std::int32_t s = steps.steps[At(step)].parent; s >= 0; s = steps.steps[At(s)].parent) {
    if (steps.steps[At(s)].ranks != NestedRanks::kByPath) return &steps.steps[At(s)];
  }
  return nullptr;
}

std::vector<LeafShare> InPathOrder(const std::vector<LeafShare>& shares) {
  return MergeShares({}, shares);
}

class AnswerMaker {
 public:
  AnswerMaker(const NestedSteps& steps, const NestedState::Answer& decided,
              const FlavorSnapshot& snapshot, const Verdict& verdict, WorkBudget& budget)
      : steps_(steps),
        decided_(decided),
        snapshot_(snapshot),
        verdict_(verdict),
        budget_(budget),
        placed_(steps, decided),
        takes_of_(steps.steps.size()) {
    for (std::size_t i = 0; i < decided.takes.size(); ++i) {
      const Share& take = decided.takes[i];
      takes_of_[At(decided.take_step[i])].push_back({LeafId(take.domain), 0, take.pods});
    }
  }

  NestedAnswer Make() {
    NestedAnswer answer;
    answer.status = Append(0, answer);
    if (answer.status == NestedStatus::kPlacedInPart) {
      answer.reason = fmt::format("{} of {} pods are placed", placed_.Of(0), placed_.Most(0));
    } else if (answer.status != NestedStatus::kPlaced) {
      answer.reason = Reason(answer.status);
    }
    return answer;
  }

 private:
  NestedStatus StatusOf(std::int32_t step) const {
    if (!placed_.IsPlaced(step)) return verdict_(step);
    if (placed_.Of(step) == placed_.Most(step)) return NestedStatus::kPlaced;
    return placed_.Of(step) > 0 ? NestedStatus::kPlacedInPart : verdict_(step);
  }

  NestedStatus Append(std::int32_t step, NestedAnswer& answer) {
    if (!budget_.MayContinue()) return NestedStatus::kUndecided;
    NestedGroupAnswer group;
    group.path = steps_.PathOf(step);
    group.status = StatusOf(step);
    if (placed_.IsPlaced(step)) {
      const NestedChoice& choice = decided_.choices[At(step)];
      if (choice.level != kNoLevel && placed_.Of(step) > 0) {
        group.level = snapshot_.levels()[At(choice.level)];
        group.values = snapshot_.Path(DomainId(choice.domain));
      }
      if (placed_.Of(step) > 0 && steps_.steps[At(step)].shape >= 0) {
        group.assignment = ToAssignment(SharesOf(step), false, snapshot_);
      }
    }
    const NestedStatus status = group.status;
    const bool placed = placed_.IsPlaced(step);
    answer.groups.push_back(std::move(group));
    if (placed) {
      for (const std::int32_t child : ChildrenOf(steps_, step)) Append(child, answer);
    }
    return status;
  }

  // Returns what a pod set got, in the order of its ranks.
  std::vector<LeafShare> SharesOf(std::int32_t step) const {
    const std::vector<LeafShare>& takes = takes_of_[At(step)];
    const NestedStep* const group = RankedGroupOf(steps_, step);
    if (group == nullptr) return InPathOrder(takes);
    // The pods that are required come first, in whole takes.
    std::size_t required = 0;
    for (Count pods = 0; pods < steps_.steps[At(step)].min_pods; ++required) {
      pods += takes[required].pods;
    }
    const std::vector<LeafShare> first(takes.begin(),
                                       takes.begin() + static_cast<std::ptrdiff_t>(required));
    const std::vector<LeafShare> more(takes.begin() + static_cast<std::ptrdiff_t>(required),
                                      takes.end());
    const auto* const ranked =
        &steps_.sources[static_cast<std::size_t>(group - steps_.steps.data())];
    std::vector<LeafShare> shares = ranked->group->ranks == RankPlacement::kStriped
                                        ? Striped(first, *group, step)
                                        : InPathOrder(first);
    for (const LeafShare& share : InPathOrder(more)) shares.push_back(share);
    return shares;
  }

  // One pod of each domain of the rank level in turn, as they were dealt (R25.11).
  std::vector<LeafShare> Striped(const std::vector<LeafShare>& takes, const NestedStep& group,
                                 std::int32_t step) const {
    const std::int32_t level = std::max(group.rank_level, decided_.choices[At(step)].level);
    std::vector<std::vector<LeafShare>> domains;
    DomainId last;
    for (const LeafShare& take : takes) {
      const DomainId domain = snapshot_.Ancestor(take.leaf, level);
      if (domains.empty() || domain != last) domains.emplace_back();
      last = domain;
      domains.back().push_back(take);
    }
    for (auto& domain : domains) std::ranges::reverse(domain);  // the next one is the last
    std::vector<LeafShare> shares;
    for (bool any = true; any;) {
      any = false;
      for (auto& domain : domains) {
        if (domain.empty()) continue;
        any = true;
        LeafShare& next = domain.back();
        if (!shares.empty() && shares.back().leaf == next.leaf) {
          ++shares.back().pods;
        } else {
          shares.push_back({next.leaf, 0, 1});
        }
        if (--next.pods == 0) domain.pop_back();
      }
    }
    return shares;
  }

  // Says which leaves the domain of the step must contain (R25.12), where there are any.
  std::string WhereOthersRun(std::int32_t step) const {
    constexpr std::size_t kMostNamed = 5;
    while (step >= 0 && steps_.sources[At(step)].group->running_on.empty()) {
      step = steps_.steps[At(step)].parent;
    }
    if (step < 0) return {};
    std::vector<std::string> leaves;
    for (const std::string& id : steps_.sources[At(step)].group->running_on) {
      leaves.push_back(id.substr(id.rfind(',') + 1));  // the node of a path
    }
    const std::size_t named = std::min(leaves.size(), kMostNamed);
    std::string text = fmt::format(
        ", in the domain of others that run on {}",
        fmt::join(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    if (leaves.size() > named) text += fmt::format(" and {} more", leaves.size() - named);
    return text;
  }

  std::string Reason(NestedStatus status) const {
    const std::int32_t step = std::max(decided_.result.stuck, 0);
    const NestedStep& stuck = steps_.steps[At(step)];
    Count pods = 0;
    for (std::int32_t n = stuck.needs_begin; n < stuck.needs_end; ++n) {
      pods += steps_.needs[At(n)].min_pods;
    }
    if (pods == 0) pods = placed_.Most(step);  // none is required, and there is room for none
    const std::string path = steps_.PathOf(step);
    const std::string who = path.empty() ? "the workload" : path;
    const std::string where =
        stuck.required == kNoLevel
            ? std::string("there is no room")
            : fmt::format("no domain of {} has room", snapshot_.levels()[At(stuck.required)]);
    const std::string reason = fmt::format("{} for {}, {} pod{}{}", where, who, pods,
                                           pods == 1 ? "" : "s", WhereOthersRun(step));
    if (status == NestedStatus::kNever) return reason + ", and none were all nodes empty";
    if (status == NestedStatus::kNotNow) return reason + " now";
    return reason + " as far as was searched, which rules nothing out";
  }

  const NestedSteps& steps_;
  const NestedState::Answer& decided_;
  const FlavorSnapshot& snapshot_;
  const Verdict& verdict_;
  WorkBudget& budget_;
  PlacedPods placed_;
  std::vector<std::vector<LeafShare>> takes_of_;
};

}  // namespace

PlacedPods::PlacedPods(const NestedSteps& steps, const NestedState::Answer& answer)
    : placed_(steps.steps.size()), pods_(steps.steps.size()), most_(steps.steps.size()) {
  for (std::size_t i = 0; i < answer.takes.size(); ++i) {
    pods_[At(answer.take_step[i])] += answer.takes[i].pods;
  }
  const bool any = answer.result.outcome == NestedOutcome::kPlaced;
  for (std::size_t s = 0; s < steps.steps.size(); ++s) {
    const std::int32_t parent = steps.steps[s].parent;
    placed_[s] = any && answer.choices[s].placed && (parent < 0 || placed_[At(parent)]);
  }
  for (std::size_t s = steps.steps.size(); s-- > 0;) {
    if (steps.steps[s].shape >= 0) most_[s] = steps.steps[s].max_pods;
    if (const std::int32_t parent = steps.steps[s].parent; parent >= 0) {
      pods_[At(parent)] += pods_[s];
      most_[At(parent)] += most_[s];
    }
  }
}

NestedAnswer ToAnswer(const NestedSteps& steps, const NestedState::Answer& decided,
                      const FlavorSnapshot& snapshot, const Verdict& verdict, WorkBudget& budget) {
  return AnswerMaker(steps, decided, snapshot, verdict, budget).Make();
}

}  // namespace espalier
