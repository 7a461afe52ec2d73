#include "service/cli/placement_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/lost_pods.hpp"

namespace espalier {

Outcome OutcomeOf(const PlannedWorkload& workload, const WorkloadAnswer& answer) {
  if (std::holds_alternative<NothingToPlace>(workload.plan)) return Outcome::kNothingToPlace;
  if (std::holds_alternative<RefusedWorkload>(workload.plan)) return Outcome::kNotPlaced;
  return answer.FirstFailure() == nullptr ? Outcome::kPlaced : Outcome::kNotPlaced;
}

std::string ReasonOf(const PlannedWorkload& workload, const WorkloadAnswer& answer) {
  if (const auto* refused = std::get_if<RefusedWorkload>(&workload.plan)) {
    return refused->reason + GuessText(workload);
  }
  if (const auto* nothing = std::get_if<NothingToPlace>(&workload.plan)) return nothing->reason;
  std::vector<std::string> reasons;
  for (const PodSetAnswer& pod_set : answer.pod_sets) {
    if (!pod_set.failure) continue;
    reasons.push_back(fmt::format("couldn't assign flavors to pod set {}: {}", pod_set.name,
                                  pod_set.failure->reason));
  }
  return fmt::format("{}{}", fmt::join(reasons, "; "), reasons.empty() ? "" : GuessText(workload));
}

std::string GuessText(const PlannedWorkload& workload) {
  if (workload.guessed_flavor.empty()) return "";
  return fmt::format(" (flavor {} is a guess)", workload.guessed_flavor);
}

std::int64_t LostPodsOf(const PodSetRequest& pod_set, const WorkloadAnswer& answer) {
  if (answer.FirstFailure() != nullptr) return 0;
  const auto it = std::ranges::find(answer.pod_sets, pod_set.name, &PodSetAnswer::name);
  return it == answer.pod_sets.end() ? 0 : LostPods(pod_set.count, it->assignment);
}

std::vector<std::string> NotesOf(const PlacementReport& report) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < report.workloads.size(); ++i) {
    const auto* request = std::get_if<WorkloadRequest>(&report.workloads[i].plan);
    if (request == nullptr) continue;
    for (const PodSetRequest& pod_set : request->pod_sets) {
      const std::int64_t lost = LostPodsOf(pod_set, report.answers[i]);
      if (lost == 0) continue;
      notes.push_back(
          LostPodsNote(request->key, pod_set.name, pod_set.count, lost, pod_set.topology_request));
    }
  }
  return notes;
}

OutcomeCounts CountOutcomes(const PlacementReport& report) {
  OutcomeCounts counts;
  for (std::size_t i = 0; i < report.workloads.size(); ++i) {
    const PlannedWorkload& workload = report.workloads[i];
    if (!workload.guessed_flavor.empty()) ++counts.on_a_guess;
    switch (OutcomeOf(workload, report.answers[i])) {
      case Outcome::kPlaced:
        ++counts.placed;
        for (const PodSetRequest& pod_set : std::get<WorkloadRequest>(workload.plan).pod_sets) {
          counts.lost_pods += LostPodsOf(pod_set, report.answers[i]);
        }
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

std::string SummaryLine(const OutcomeCounts& counts) {
  std::string line = fmt::format("{} placed, {} not placed, {} with nothing to place",
                                 counts.placed, counts.not_placed, counts.nothing_to_place);
  if (counts.lost_pods > 0) {
    line += fmt::format("; {} pod{} of the placed without a place", counts.lost_pods,
                        counts.lost_pods == 1 ? "" : "s");
  }
  if (counts.on_a_guess > 0) line += fmt::format("; {} on a guessed flavor", counts.on_a_guess);
  return line;
}

}  // namespace espalier
