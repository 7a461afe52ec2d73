#include "host/engine/verdicts.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace espalier {
namespace {

// Floors that are tried of one request, at most.
constexpr std::size_t kMostFloors = 64;

bool LacksRoom(const WorkloadAnswer& answer) {
  const PodSetAnswer* failed = answer.FirstFailure();
  return failed != nullptr && failed->failure->shortfall;
}

// A request for each pod set that no group binds to another, and for each such group.
std::vector<WorkloadRequest> PartsOf(const WorkloadRequest& request) {
  std::vector<WorkloadRequest> parts;
  std::map<std::string, std::size_t> part_of_group;
  for (const PodSetRequest& pod_set : request.pod_sets) {
    std::size_t part = parts.size();
    if (pod_set.group) part = part_of_group.emplace(*pod_set.group, part).first->second;
    if (part == parts.size()) parts.emplace_back().key = request.key;
    parts[part].pod_sets.push_back(pod_set);
  }
  return parts;
}

bool SameNodes(const PodTemplate& a, const PodTemplate& b) {
  return a.node_selector == b.node_selector && a.affinity == b.affinity &&
         a.tolerations == b.tolerations;
}

// Lower bounds on nodes that hold all of some pod sets: as many pods as these have together, each
// of which asks for what all of them ask for at least, anywhere. Nodes that do not hold a lower
// bound do not hold the pod sets either.
class Floors {
 public:
  explicit Floors(const WorkloadRequest& request) : request_(request) {}

  std::vector<WorkloadRequest> All() {
    std::set<std::string> flavors;
    for (const PodSetRequest& pod_set : request_.pod_sets) flavors.insert(pod_set.flavor);
    for (const std::string& flavor : flavors) {
      Add(flavor, [](const PodSetRequest&) { return true; });
      // The larger the pods of a part are, the fewer there is room for: of each resource those that
      // ask for as much as one of them.
      for (const PodSetRequest& least : request_.pod_sets) {
        for (const auto& entry : least.requests) {
          const std::string& resource = entry.first;
          const Amount at_least = entry.second;
          if (at_least <= 0) continue;
          Add(flavor, [&](const PodSetRequest& pod_set) {
            const Amount* asked = pod_set.requests.Find(resource);
            return asked != nullptr && *asked >= at_least;
          });
        }
      }
    }
    return std::move(floors_);
  }

 private:
  void Add(const std::string& flavor, const auto& is_in) {
    std::vector<const PodSetRequest*> members;
    for (const PodSetRequest& pod_set : request_.pod_sets) {
      if (pod_set.flavor == flavor && pod_set.count > 0 && is_in(pod_set)) {
        members.push_back(&pod_set);
      }
    }
    if (members.size() < 2 || floors_.size() == kMostFloors || !seen_.insert(members).second)
      return;
    WorkloadRequest& floor = floors_.emplace_back();
    floor.key = request_.key;
    PodSetRequest& pods = floor.pod_sets.emplace_back(*members.front());
    std::int64_t count = 0;
    bool same_nodes = true;
    for (const PodSetRequest* member : members) {
      count += member->count;
      same_nodes = same_nodes && SameNodes(member->pod_template, pods.pod_template);
      Resources least;
      for (const auto& [resource, amount] : pods.requests) {
        const Amount* asked = member->requests.Find(resource);
        least.Set(resource, std::min(amount, asked == nullptr ? Amount{0} : *asked));
      }
      pods.requests = std::move(least);
    }
    pods.count = static_cast<std::int32_t>(
        std::min<std::int64_t>(count, std::numeric_limits<std::int32_t>::max()));
    pods.topology_request = TopologyRequest{.unconstrained = true};
    pods.implied = false;
    pods.group.reset();
    pods.previous_assignment = {};
    pods.updates.clear();
    if (same_nodes) return;
    pods.pod_template = {};
    pods.pod_template.tolerations = {{"", "Exists", "", ""}};
  }

  const WorkloadRequest& request_;
  std::set<std::vector<const PodSetRequest*>> seen_;
  std::vector<WorkloadRequest> floors_;
};

// Asks for the parts of those that do not even fit as a whole, and for their floors.
Result<void> DecideParts(std::span<const WorkloadRequest> requests,
                         const std::vector<std::size_t>& of, const Nominate& on_empty,
                         Verdicts& verdicts) {
  std::vector<WorkloadRequest> parts;
  std::vector<std::size_t> whose;
  for (const std::size_t i : of) {
    std::vector<WorkloadRequest> mine = PartsOf(requests[i]);
    verdicts[i] = mine.size() > 1 ? NestedStatus::kUndecided : NestedStatus::kNever;
    if (mine.size() == 1) continue;
    std::ranges::move(Floors(requests[i]).All(), std::back_inserter(mine));
    whose.insert(whose.end(), mine.size(), i);
    std::ranges::move(mine, std::back_inserter(parts));
  }
  if (parts.empty()) return {};
  const auto answers = on_empty(std::move(parts));
  if (!answers) return tl::unexpected(answers.error());
  for (std::size_t p = 0; p < answers->size(); ++p) {
    if (LacksRoom((*answers)[p])) verdicts[whose[p]] = NestedStatus::kNever;
  }
  return {};
}

// Returns whether empty nodes might say otherwise: what fits without admitted workloads fits them
// too.
bool MayFitEmpty(NestedStatus status) {
  return status == NestedStatus::kNever || status == NestedStatus::kUndecided;
}

void TakeOver(const NestedStatus& on_empty, NestedStatus& status) {
  if (MayFitEmpty(status)) status = IsPlaced(on_empty) ? NestedStatus::kNotNow : on_empty;
}

}  // namespace

Result<void> JudgeTreesOnEmpty(std::span<const WorkloadRequest> requests,
                               std::span<WorkloadAnswer> answers, const Nominate& on_empty) {
  std::vector<std::size_t> asked;
  std::vector<WorkloadRequest> when_empty;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].tree) continue;
    const NestedAnswer& tree = *answers[i].tree;
    const bool may_fit = MayFitEmpty(tree.status) ||
                         std::ranges::any_of(tree.groups, MayFitEmpty, &NestedGroupAnswer::status);
    if (!may_fit) continue;
    asked.push_back(i);
    when_empty.push_back(requests[i]);
  }
  if (asked.empty()) return {};
  const auto answered = on_empty(std::move(when_empty));
  if (!answered) return tl::unexpected(answered.error());
  for (std::size_t i = 0; i < answered->size(); ++i) {
    if (!(*answered)[i].tree) continue;
    const NestedAnswer& empty = *(*answered)[i].tree;
    std::map<std::string_view, NestedStatus> by_path;
    for (const NestedGroupAnswer& group : empty.groups) by_path.emplace(group.path, group.status);
    NestedAnswer judged = *answers[asked[i]].tree;
    TakeOver(empty.status, judged.status);
    for (NestedGroupAnswer& group : judged.groups) {
      const auto found = by_path.find(group.path);
      if (found != by_path.end()) TakeOver(found->second, group.status);
    }
    answers[asked[i]].tree = std::move(judged);
  }
  return {};
}

Result<Verdicts> DecideVerdicts(std::span<const WorkloadRequest> requests,
                                std::span<const WorkloadAnswer> answers, const Nominate& on_empty) {
  Verdicts verdicts(requests.size());
  std::vector<std::size_t> asked;
  std::vector<WorkloadRequest> when_empty;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (const auto& tree = answers[i].tree) {
      if (!IsPlaced(tree->status) && tree->status != NestedStatus::kBadRequest) {
        verdicts[i] = tree->status;
      }
      continue;
    }
    if (!LacksRoom(answers[i]) || requests[i].replacement) continue;
    asked.push_back(i);
    when_empty.push_back(requests[i]);
  }
  if (asked.empty()) return verdicts;
  const auto answered = on_empty(std::move(when_empty));
  if (!answered) return tl::unexpected(answered.error());
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < answered->size(); ++i) {
    const WorkloadAnswer& answer = (*answered)[i];
    if (Fits(answer)) {
      verdicts[asked[i]] = NestedStatus::kNotNow;
    } else if (LacksRoom(answer)) {
      left.push_back(asked[i]);
    }
  }
  if (const auto decided = DecideParts(requests, left, on_empty, verdicts); !decided) {
    return tl::unexpected(decided.error());
  }
  return verdicts;
}

}  // namespace espalier
