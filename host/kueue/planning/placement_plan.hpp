// Plans the requests that place all pending workloads of a cluster, quota aside.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/nested_request.hpp"
#include "host/engine/request.hpp"
#include "host/kueue/cycle/partial_counts.hpp"
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
  // The cluster before admissions were taken away; null: none were. A workload whose queue is not
  // in the cluster takes the flavors that it was admitted on there.
  const Cluster* admitted_in = nullptr;
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

// The numbers of pods with which a workload is tried where all have no place (R21.11).
struct FewerPods {
  PartialCounts counts;
  std::vector<std::string> pod_sets;  // names, in the order of the counts
};

struct PlannedWorkload {
  std::size_t index = 0;      // into cluster.workloads
  std::string cluster_queue;  // empty when it is not known
  std::variant<WorkloadRequest, RefusedWorkload, NothingToPlace> plan;
  std::string guessed_flavor = {};  // set only when the flavor was guessed for lack of a queue
  // The same request on the flavors that the queue tries after those of `plan` where these have no
  // place, in that order (R21.12); none unless `plan` is a request.
  std::vector<WorkloadRequest> others = {};
  std::optional<FewerPods> fewer = {};  // absent: all its pods are admitted, or none
  bool admits_fewer = false;            // `plan` is for fewer pods than the workload asks for

  // Returns all requests, in the order in which they are tried.
  std::vector<const WorkloadRequest*> Choices() const;
};

// Finds the most pods with which a workload is held (R21.11): calls `holds` with all of its
// requests for fewer pods, and returns those that were held with the most, or none. Errors are
// those of `holds`.
Result<std::vector<WorkloadRequest>> FindFewer(
    const FewerPods& fewer, const std::vector<const WorkloadRequest*>& choices,
    const std::function<Result<bool>(const std::vector<WorkloadRequest>&)>& holds);

// Returns the flavors of a request, each once, as "a" or "a and b".
std::string FlavorsText(const WorkloadRequest& request);

struct PlacementPlan {
  ClusterStateInput state;
  std::vector<PlannedWorkload> workloads;  // in queue order
};

// Plans a request for every pending workload on each of the flavors that its ClusterQueue would
// try; stopped queues count as open. A workload whose queue is not in the cluster is refused unless
// it was admitted before, or a flavor is to be guessed and exactly one has a topology. Errors:
// `only` names no workload (kNotFound), or one that is not pending (kBadInput).
Result<PlacementPlan> PlanPlacement(const Cluster& cluster, const PlacementPlanOptions& options);

}  // namespace espalier
