// What became of every pending workload, ready to be printed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/placement_plan.hpp"
#include "host/model/cluster.hpp"
#include "service/cli/domain_text.hpp"
#include "service/cli/object_writer.hpp"

namespace espalier {

// Points into its parts, which outlive it.
struct PlacementReport {
  const Cluster& cluster;
  const ClusterStateInput& state;
  std::span<const PlannedWorkload> workloads;  // in queue order
  std::span<const WorkloadAnswer> answers;     // one per workload; empty where nothing was asked
};

enum class Outcome { kPlaced, kNotPlaced, kNothingToPlace };

Outcome OutcomeOf(const PlannedWorkload& workload, const WorkloadAnswer& answer);

// Why a workload was not placed, in Kueue's words ("couldn't assign flavors to pod set main: ...",
// R18.8); for one with nothing to place, why that is. Empty for a placed one.
std::string ReasonOf(const PlannedWorkload& workload, const WorkloadAnswer& answer);

struct OutcomeCounts {
  std::size_t placed = 0;
  std::size_t not_placed = 0;
  std::size_t nothing_to_place = 0;
  bool operator==(const OutcomeCounts&) const = default;
};
OutcomeCounts CountOutcomes(const PlacementReport& report);

// A row per pod set and, last, a line of counts. `detail` full adds queue, priority and flavor and
// names every host.
std::string PlacementTable(const PlacementReport& report, Detail detail);

// A v1 List of Kueue Workloads (v1beta2), in queue order, each with its name and what placement
// would write to its status: `admission` when placed, a QuotaReserved condition when not. Workloads
// with nothing to place are left out.
void WritePlacementObjects(const PlacementReport& report, const FeatureGates& gates,
                           ObjectWriter& out);

}  // namespace espalier
