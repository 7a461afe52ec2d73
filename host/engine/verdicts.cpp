#include "host/engine/verdicts.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace espalier {
namespace {

using Verdicts = std::vector<std::optional<NestedStatus>>;

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
    if (part == parts.size()) {
      parts.emplace_back().key = request.key;
      parts.back().simulate_empty = true;
    }
    parts[part].pod_sets.push_back(pod_set);
  }
  return parts;
}

// Asks for the parts of those that do not even fit as a whole.
Result<void> DecideParts(std::span<const WorkloadRequest> requests,
                         const std::vector<std::size_t>& of, const Nominate& nominate,
                         Verdicts& verdicts) {
  std::vector<WorkloadRequest> parts;
  std::vector<std::size_t> whose;
  for (const std::size_t i : of) {
    std::vector<WorkloadRequest> mine = PartsOf(requests[i]);
    verdicts[i] = mine.size() > 1 ? NestedStatus::kUndecided : NestedStatus::kNever;
    if (mine.size() == 1) continue;
    whose.insert(whose.end(), mine.size(), i);
    std::ranges::move(mine, std::back_inserter(parts));
  }
  if (parts.empty()) return {};
  const auto answers = nominate(std::move(parts));
  if (!answers) return tl::unexpected(answers.error());
  for (std::size_t p = 0; p < answers->size(); ++p) {
    if (LacksRoom((*answers)[p])) verdicts[whose[p]] = NestedStatus::kNever;
  }
  return {};
}

}  // namespace

Result<Verdicts> DecideVerdicts(std::span<const WorkloadRequest> requests,
                                std::span<const WorkloadAnswer> answers, const Nominate& nominate) {
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
    when_empty.back().simulate_empty = true;
  }
  if (asked.empty()) return verdicts;
  const auto answered = nominate(std::move(when_empty));
  if (!answered) return tl::unexpected(answered.error());
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < answered->size(); ++i) {
    if ((*answered)[i].FirstFailure() == nullptr) {
      verdicts[asked[i]] = NestedStatus::kNotNow;
    } else if (LacksRoom((*answered)[i])) {
      left.push_back(asked[i]);
    }
  }
  if (const auto decided = DecideParts(requests, left, nominate, verdicts); !decided) {
    return tl::unexpected(decided.error());
  }
  return verdicts;
}

}  // namespace espalier
