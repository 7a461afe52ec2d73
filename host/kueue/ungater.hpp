// Which gated pod goes to which domain of an admitted assignment (section 22).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/result.hpp"
#include "host/model/topology.hpp"
#include "host/model/work_budget.hpp"
#include "host/model/workload.hpp"

namespace espalier {

inline constexpr std::string_view kTopologyGate = "kueue.x-k8s.io/topology";
inline constexpr std::string_view kPodSetLabel = "kueue.x-k8s.io/podset";
inline constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";
inline constexpr std::string_view kPodIndexOffsetAnnotation = "kueue.x-k8s.io/pod-index-offset";

// A pod to be ungated now.
struct UngatedPod {
  ObjectKey pod;
  std::string domain;       // the domain's values joined with commas
  StringMap node_selector;  // level key -> value, to be written into the pod (R22.8)
  bool operator==(const UngatedPod&) const = default;
};

// The pods of one pod set that take part, and where its pod indexes start (R22.2).
struct PodSetToUngate {
  TopologyAssignment assignment;
  std::int64_t count = 0;                           // pods of the pod set
  std::optional<TopologyRequest> topology_request;  // names the index labels
  std::vector<Pod> pods;      // live pods of the pod set, in list order, gated or not
  std::int64_t offset = 0;    // the pod index that has rank 0
  std::int64_t max_rank = 0;  // pod indexes are below this
  bool operator==(const PodSetToUngate&) const = default;
};

// By rank when every pod has a sound one, else greedily (R22.3 to R22.6); in the order of `pods`
// by rank, in the order of the assignment otherwise.
std::vector<UngatedPod> UngatePodSet(const PodSetToUngate& pod_set);

// Every pod of an admitted workload that may start now, pod set by pod set. `pods` may hold pods
// of other workloads; those of this one are taken in order of their names (R22.6). Empty when the
// workload is not admitted. Errors: a pod-index-offset that is no integer (R22.2; kBadInput), and
// why `budget` was stopped.
Result<std::vector<UngatedPod>> UngateWorkload(const Workload& workload, std::span<const Pod> pods,
                                               WorkBudget& budget = WorkBudget::Unlimited());

}  // namespace espalier
