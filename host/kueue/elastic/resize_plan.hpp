// Plans a change of an elastic workload's size: a smaller assignment, a new slice, or slices per
// replica (KEP-77, W5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/cycle/quota.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"

namespace espalier {

using CountsByPodSet = std::map<std::string, std::int64_t>;  // pods

// The condition of a workload some of whose slices per replica wait.
inline constexpr std::string_view kResizeRequested = "ResizeRequested";

// Returns that condition: true where slices wait, false where all are folded.
Condition ResizeCondition(bool waits, std::string message);

enum class ResizeDecision {
  kNone,              // the workload already has these counts
  kInPlace,           // the new counts are written; no quota is needed
  kNewSlice,          // a workload with the new counts that replaces it
  kSlicesPerReplica,  // a workload per new replica, each of which is folded into it
  kRefused,
};

// Returns "none", "in-place", "new-slice", "slices-per-replica" or "refused".
std::string_view ToString(ResizeDecision decision);

enum class SliceMode {
  kReplacement,  // one slice for all new pods, as Kueue does (W5.3)
  kPerReplica,   // one per new replica, so that some may succeed alone (W8.9)
};

enum class ResizeProfile {
  kKueue,     // as Kueue decides (sections 16, R21.13)
  kEspalier,  // pods that leave free whole domains; new ones stay near the old
};

struct ResizeRequest {
  ObjectKey workload;
  std::vector<std::pair<std::string, std::int64_t>> counts;  // by pod set; the others keep theirs
  SliceMode mode = SliceMode::kReplacement;
  ResizeProfile profile = ResizeProfile::kKueue;
};

// Pods of one pod set that leave, by domain; without a topology a single entry without values.
struct LeavingPods {
  std::string pod_set;
  std::vector<TopologyDomainAssignment> domains;
  bool operator==(const LeavingPods&) const = default;
};

struct PlannedSlice {
  Workload workload;            // to be created; has its admission when it was admitted
  std::string replacement_for;  // NAMESPACE/NAME; empty per replica
  bool admitted = false;
  std::string reason;  // why it is pending; empty when admitted
  bool operator==(const PlannedSlice&) const = default;
};

struct ResizePlan {
  ObjectKey workload;  // the one that changes in place, is replaced or grows by slices
  ResizeDecision decision = ResizeDecision::kNone;
  // Counts of every pod set after the change, in spec order; of slices per replica those admitted
  // are counted.
  std::vector<std::pair<std::string, std::int64_t>> counts;
  std::vector<LeavingPods> leaving;  // for pod sets that shrink
  std::vector<PlannedSlice> slices;
  // Slices that end whatever is decided, as another one has taken their place or counts them.
  std::vector<Workload> ended;
  // The usage that the workload, or the slice that replaces it, has of its ClusterQueue afterwards.
  QuotaUsage usage;
  std::string reason;              // why it is refused, or why a slice is pending
  std::vector<std::string> notes;  // assumptions made, a sentence each
  // The workload after the change: with its new counts and assignment, or finished when replaced.
  // Absent when nothing about it changes.
  std::optional<Workload> after;
};

// Returns the pods that are wanted of each pod set of the workload, in spec order: those of
// `named`, by pod set, and as many as it has of the others. Errors (kBadInput): a pod set that it
// does not have or that is named twice, a count below zero or above 2147483647.
Result<std::vector<std::int64_t>> WantedCounts(
    const Workload& workload, std::span<const std::pair<std::string, std::int64_t>> named);

// Plans one change of size. Works on `cluster`, and leaves it as it was. `engine` decides with its
// own feature gates; without ElasticJobsViaWorkloadSlicesWithTAS all pods of a new slice are
// placed, and not the difference. Errors: a workload that is not in the cluster or has finished
// (kNotFound), those of WantedCounts, more than 10000 slices per replica (kBadInput), those of
// ClusterState::Build, and why the engine's budget was stopped.
Result<ResizePlan> PlanResize(Cluster& cluster, const Engine& engine, const ResizeRequest& request);

// Plans the same on a state that was built before, with the usage of the cluster's workloads; the
// cluster's pods are not read.
Result<ResizePlan> PlanResize(Cluster& cluster, ClusterState state, const Engine& engine,
                              const ResizeRequest& request);

// Returns `gates` with ElasticJobsViaWorkloadSlicesWithTAS on, the default of a resize, as running
// pods are to stay where they are.
FeatureGates ResizeGates(FeatureGates gates);

// Writes what the plan says into the cluster: the workload afterwards, its slices and those that
// end. Folding slices per replica is part of it, so that doing it twice changes nothing.
void CarryOut(const ResizePlan& plan, Cluster& cluster);

struct QueuedResizes {
  std::vector<std::string> notes;  // a sentence for each job that changed or keeps its size
  std::size_t refused = 0;         // jobs that keep their size
};

// Carries out size changes of jobs: writes lower counts in place, and adds a pending slice to the
// queue of each job that grows. A job whose change is refused, or is no valid one, keeps its size.
// The error is why the engine's budget was stopped.
Result<QueuedResizes> QueueResizes(std::span<const ResizeRequest> requests, const Engine& engine,
                                   Cluster& cluster);

}  // namespace espalier
