// Brings requests into the form that they are decided in.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "host/engine/gang_batch.hpp"
#include "host/engine/request_on_state.hpp"

namespace espalier {

// Requests without trees, for a GangBatch.
struct CompiledRequests {
  GangBatch::Shapes shapes;
  std::vector<const ClusterState*> states;  // [shapes]
  std::vector<GangRow> gangs;               // [requests]
  std::vector<RequestOnState> stepped;      // those that are more than gangs
};

// Returns the requests as gangs of as few shapes as they have, each resolved once, and as stepped
// workloads where they are no gangs (AsGang). Meaningless once `budget` is stopped.
CompiledRequests Compile(std::span<const RequestOnState> requests, const FeatureGates& gates,
                         WorkBudget& budget);

// Pod sets of a request that are decided as a gang.
struct GangPodSets {
  const PodSetRequest* workers = nullptr;
  const PodSetRequest* leader = nullptr;  // null: none
  bool leader_first = false;
};

// Returns the pod sets of a request that is decided in one step: one pod set, or two of one group
// on one flavor (R15.4), on a flavor that the state has, without pods in place, trees or usage that
// is assumed.
std::optional<GangPodSets> AsGang(const WorkloadRequest& request, const ClusterState& state);

// Returns what a request that is a gang has in common with others.
GangShape ShapeOf(const WorkloadRequest& request, const GangPodSets& gang);

}  // namespace espalier
