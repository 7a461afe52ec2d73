// Plans the requests that place all pending workloads of a cluster, quota aside.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/nested_request.hpp"
#include "host/engine/request.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

struct PlacementPlanOptions {
  FeatureGates gates;
  std::optional<ObjectKey> only;  // plan this workload alone
  bool simulate_empty = false;    // treat admitted workloads as using nothing (R21.5)
  // Give a workload whose queue is not in the cluster the only flavor with a topology.
  bool guess_flavor = false;
  NestedProfile tree_rules = NestedProfile::kEspalier;  // by which workloads with a tree are placed
};

// Marks a workload that cannot be placed, whatever the engine would answer.
struct RefusedWorkload {
  std::string reason;
};

// Marks a workload all of whose pod sets use flavors without a topology: neither placed nor failed.
struct NothingToPlace {
  std::string reason;
};

struct PlannedWorkload {
  std::size_t index = 0;      // into cluster.workloads
  std::string cluster_queue;  // empty when it is not known
  std::variant<WorkloadRequest, RefusedWorkload, NothingToPlace> plan;
  std::string guessed_flavor = {};  // set only when the flavor was guessed for lack of a queue
};

struct PlacementPlan {
  ClusterStateInput state;
  std::vector<PlannedWorkload> workloads;  // in queue order
};

// Plans a request for every pending workload. Each pod set takes the first flavor of its
// ClusterQueue that it matches; stopped queues count as open. A workload whose queue is not in the
// cluster is refused unless a flavor is to be guessed and exactly one has a topology. Errors:
// `only` names no workload (kNotFound), or one that is not pending (kBadInput).
Result<PlacementPlan> PlanPlacement(const Cluster& cluster, const PlacementPlanOptions& options);

}  // namespace espalier
