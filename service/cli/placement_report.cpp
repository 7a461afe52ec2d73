#include "service/cli/placement_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {

Outcome OutcomeOf(const PlannedWorkload& workload, const WorkloadAnswer& answer) {
  if (std::holds_alternative<NothingToPlace>(workload.plan)) return Outcome::kNothingToPlace;
  if (std::holds_alternative<RefusedWorkload>(workload.plan)) return Outcome::kNotPlaced;
  return answer.FirstFailure() == nullptr ? Outcome::kPlaced : Outcome::kNotPlaced;
}

std::string ReasonOf(const PlannedWorkload& workload, const WorkloadAnswer& answer) {
  if (const auto* refused = std::get_if<RefusedWorkload>(&workload.plan)) return refused->reason;
  if (const auto* nothing = std::get_if<NothingToPlace>(&workload.plan)) return nothing->reason;
  std::vector<std::string> reasons;
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    if (!pod_set.failure) continue;
    reasons.push_back(fmt::format("couldn't assign flavors to pod set {}: {}", pod_set.name,
                                  pod_set.failure->reason));
  }
  return fmt::format("{}", fmt::join(reasons, "; "));
}

OutcomeCounts CountOutcomes(const PlacementReport& report) {
  OutcomeCounts counts;
  for (std::size_t i = 0; i < report.workloads.size(); ++i) {
    switch (OutcomeOf(report.workloads[i], report.answers[i])) {
      case Outcome::kPlaced:
        ++counts.placed;
        break;
      case Outcome::kNotPlaced:
        ++counts.not_placed;
        break;
      case Outcome::kNothingToPlace:
        ++counts.nothing_to_place;
        break;
    }
  }
  return counts;
}

}  // namespace espalier
