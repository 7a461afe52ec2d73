// Plans where admitted workloads go when nodes are drained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/placement_plan.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Cordons nodes, given as indices into cluster.nodes, so that nothing is placed on them and the
// pods on them use nothing of other nodes.
void Cordon(Cluster& cluster, std::span<const std::size_t> nodes);

// Returns a node's values of some levels, in their order; empty where it lacks one.
std::vector<std::string> LevelValues(const Node& node, std::span<const std::string> levels);

// Removes the admission of a workload, so that it is pending again.
void MakePending(Workload& workload);

// An admitted workload with pods on some nodes.
struct HitWorkload {
  std::size_t index = 0;  // into cluster.workloads
  std::int64_t pods_hit = 0;
  std::int64_t pods = 0;  // pods of the workload in all
};

// Returns the admitted workloads with pods on the nodes, in the cluster's order. In a topology
// whose leaves are not hosts, a leaf counts as hit when any of its nodes is.
std::vector<HitWorkload> WorkloadsOn(const Cluster& cluster, std::span<const std::size_t> nodes);

struct Move {
  HitWorkload hit;
  PlannedWorkload planned;
  WorkloadAnswer answer;  // empty where the workload was refused
};

struct DrainPlan {
  std::vector<Move> moves;  // in queue order, the order in which they are placed
  ClusterStateInput state;  // without the drained nodes and the moved workloads
};

// Plans the requests of workloads that a drain hits, as if all of those were pending: in queue
// order, with answers that are still empty. A hit workload that is not pending then has no move.
// Errors are those of PlanPlacement.
Result<DrainPlan> PlanMoves(const Cluster& cluster, std::span<const std::size_t> nodes,
                            std::span<const HitWorkload> hits, const FeatureGates& gates);

// Returns the requests of the moves that have one.
std::vector<WorkloadRequest> RequestsOf(std::span<const Move> moves);
// Gives the answers to RequestsOf to the moves they are for.
void SetAnswers(std::vector<WorkloadAnswer> answers, std::span<Move> moves);

// Plans where every workload that a drain hits would go: removes all of them, and places each anew
// as a whole, in queue order. Quota is not checked. Errors are those of PlanPlacement and
// ClusterState::Build.
Result<DrainPlan> PlanDrain(const Cluster& cluster, std::span<const std::size_t> nodes,
                            const Engine& engine);

}  // namespace espalier
