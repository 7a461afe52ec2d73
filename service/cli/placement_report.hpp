// What became of every pending workload, ready to be printed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/placement_plan.hpp"
#include "host/model/cluster.hpp"
#include "service/cli/domain_text.hpp"
#include "service/cli/object_writer.hpp"
#include "service/cli/terminal.hpp"

namespace espalier {

// Points into its parts, which outlive it.
struct PlacementReport {
  const Cluster& cluster;
  const ClusterStateInput& state;
  std::span<const PlannedWorkload> workloads;  // in queue order
  std::span<const WorkloadAnswer> answers;     // one per workload; empty where nothing was asked
  std::string nodes;  // how many nodes there are to place on, in lines without a newline at the end
};

enum class Outcome { kPlaced, kNotPlaced, kNothingToPlace };

Outcome OutcomeOf(const PlannedWorkload& workload, const WorkloadAnswer& answer);

// Why a workload was not placed, in Kueue's words ("couldn't assign flavors to pod set main: ...",
// R18.8); for one with nothing to place, why that is. Empty for a placed one.
std::string ReasonOf(const PlannedWorkload& workload, const WorkloadAnswer& answer);

// Says that the workload's flavor is a guess, as " (flavor gpu is a guess)"; empty when it is not.
std::string GuessText(const PlannedWorkload& workload);

struct OutcomeCounts {
  std::size_t placed = 0;
  std::size_t not_placed = 0;
  std::size_t nothing_to_place = 0;
  std::int64_t lost_pods = 0;  // of the placed (LostPods)
  std::size_t on_a_guess = 0;  // of all three, those whose flavor is a guess
  bool operator==(const OutcomeCounts&) const = default;
};
OutcomeCounts CountOutcomes(const PlacementReport& report);
// "1 placed, 3 not placed, 0 with nothing to place", without a newline.
std::string SummaryLine(const OutcomeCounts& counts);

// Returns the pods of a pod set that have no place although it counts as placed (LostPods).
std::int64_t LostPodsOf(const PodSetRequest& pod_set, const WorkloadAnswer& answer);

// Explains what the table cannot, a sentence each.
std::vector<std::string> NotesOf(const PlacementReport& report);

// A row per pod set, how many nodes take part and, last, a line of counts. `detail` full adds
// queue, priority and flavor and names every host.
std::string PlacementTable(const PlacementReport& report, Detail detail,
                           const TextStyle& style = {});

// A v1 List of Kueue Workloads (v1beta2), in queue order, each with its name and what placement
// would write to its status: `admission` when placed, a QuotaReserved condition when not. Workloads
// with nothing to place are left out.
void WritePlacementObjects(const PlacementReport& report, const FeatureGates& gates,
                           ObjectWriter& out);

}  // namespace espalier
