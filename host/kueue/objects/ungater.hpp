// Chooses the gated pods of an admitted workload that may start now, and a domain for each (section
// 22, W5.4).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/kueue_keys.hpp"
#include "host/model/result.hpp"
#include "host/model/topology.hpp"
#include "host/model/work_budget.hpp"
#include "host/model/workload.hpp"

namespace espalier {

inline constexpr std::string_view kTopologyGate = "kueue.x-k8s.io/topology";
// The gate of pods of elastic jobs, which start once a slice that counts them is admitted.
inline constexpr std::string_view kElasticJobGate = "kueue.x-k8s.io/elastic-job";

// A pod to be ungated now.
struct UngatedPod {
  ObjectKey pod;
  std::string domain;                   // the domain's values joined with commas; empty: any
  StringMap node_selector;              // level key -> value, to be written into the pod (R22.8)
  std::vector<std::string> gates = {};  // gates to be removed
  bool operator==(const UngatedPod&) const = default;
};

// The pods of one pod set to assign, and where its pod indexes start (R22.2).
struct PodSetToUngate {
  TopologyAssignment assignment;
  std::int64_t count = 0;                           // pods of the pod set
  std::optional<TopologyRequest> topology_request;  // names the index labels
  std::vector<Pod> pods;      // live pods of the pod set, in list order, gated or not
  std::int64_t offset = 0;    // the pod index that has rank 0
  std::int64_t max_rank = 0;  // pod indexes are below this
  bool operator==(const PodSetToUngate&) const = default;
};

// Assigns domains to the pods that carry the topology gate: by rank when every pod has a valid one,
// else greedily (R22.3 to R22.6). Returns them in the order of `pods` by rank, in the order of the
// assignment otherwise.
std::vector<UngatedPod> UngatePodSet(const PodSetToUngate& pod_set);

// Returns whether the pod carries one of the two gates that UngateWorkload removes.
bool IsGated(const Pod& pod);

// Returns whether the pod belongs to the workload: its annotation names the workload, or the first
// of the workload's slices.
bool IsPodOf(const Workload& workload, const Pod& pod);

// Returns the first live pod of the workload that is still gated although its gates are being
// removed, or null. Such a pod holds back all the others (R22.1, W2.7).
const Pod* UnconfirmedPod(const Workload& workload, std::span<const Pod> pods);

// Returns every pod of an admitted workload that may start now, pod set by pod set. `pods` may hold
// pods of other workloads; those of this one are taken in order of their names (R22.6). Pods of a
// pod set with a topology assignment get its domains; of elastic jobs, as many of a pod set start
// as are admitted, those that run counted (W5.4). Empty when the workload is not admitted, has
// finished, or one of its pods is unconfirmed. Errors: a pod-index-offset that is no integer
// (R22.2; kBadInput), and why `budget` was stopped.
Result<std::vector<UngatedPod>> UngateWorkload(const Workload& workload, std::span<const Pod> pods,
                                               WorkBudget& budget = WorkBudget::Unlimited());

}  // namespace espalier
