// Makes what already runs on a generated cluster before the first question.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/scenarios/topologies.hpp"
#include "host/model/result.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// A running gang: pods of `slots` slots each (BenchCluster::slots), on nodes by index.
struct RunningGang {
  std::int64_t slots = 0;
  std::vector<std::pair<std::int32_t, std::int64_t>> pods;  // node, pods; nodes ascend
};

// A running pod that belongs to no workload.
struct OtherPod {
  std::int32_t node = 0;
  Amount cpu = 0;     // milli
  Amount memory = 0;  // bytes
  bool of_daemon_set = false;
};

struct Prefill {
  std::string name;
  std::vector<RunningGang> gangs;
  std::vector<OtherPod> other_pods;  // nodes ascend
};

// Makes a prefill by name:
//  * P0: nothing;
//  * P1 to P100: X-ACME jobs fill racks in random order until that percentage of the slots is used;
//    a random tenth of them ends and jobs of one slot, mostly in half of the racks, replace them;
//  * SLOTS1 to SLOTS100: that percentage of the nodes has 1 to all slots in use, by a hash of the
//    node's number alone, as in the recorded sequences;
//  * PFULL1 to PFULL100: gangs of pods of 1 to that many slots, of different sizes, until one does
//    not fit;
//  * PONES: a job of one slot on every slot;
//  * one of these and "+PODS", as P90+PODS: on every node also the pod of a DaemonSet and a pod of
//    some CPU work, whose amounts differ from node to node, so that few nodes are equal.
// Errors (kBadInput): any other name. The generator fills the cluster itself, so that what is
// measured never depends on what it is measured with.
Result<Prefill> MakePrefill(const std::string& name, const BenchCluster& cluster,
                            std::uint64_t seed);

// Returns the usage per node, in node order, for ClusterStateInput::tas_usage.
std::vector<FlavorLeafUsage> UsageOf(const Prefill& prefill, const BenchCluster& cluster);

// Returns what pods of no workload use per node, in node order, for
// ClusterStateInput::non_tas_usage.
std::vector<NodeUsage> OtherUsageOf(const Prefill& prefill, const BenchCluster& cluster);

// Returns what such a pod requests.
Resources RequestsOf(const OtherPod& pod);

}  // namespace espalier
