// Small clusters for tests: one GPU flavor `gpu` on the topology rack > host, one flavor `cpu`
// without a topology, and queues in the namespace `team`.
#pragma once

#include <string>
#include <utility>

#include "host/kueue/objects/workload_status.hpp"
#include "host/model/cluster.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/clusters.hpp"

namespace espalier {

inline constexpr const char* kRack = "rack";

inline Node MakeNode(const std::string& name, const std::string& rack, Resources allocatable,
                     const std::string& pool = "gpu") {
  Node node = HostNode(rack + "/" + name, std::move(allocatable));
  node.labels.Set("pool", pool);
  return node;
}

inline ResourceFlavor MakeFlavor(const std::string& name,
                                 std::optional<std::string> topology = std::nullopt) {
  ResourceFlavor flavor;
  flavor.name = name;
  flavor.node_labels = {{"pool", name}};
  flavor.topology_name = std::move(topology);
  return flavor;
}

// Returns one resource group of `flavors`, each with `nominal` cpu (milli) and gpu.
inline ClusterQueue MakeQueue(const std::string& name, const std::vector<std::string>& flavors,
                              Amount cpu = 1'000'000, Amount gpu = 1'000) {
  ClusterQueue queue;
  queue.name = name;
  queue.queueing_strategy = "BestEffortFIFO";
  queue.namespace_selector.emplace();
  ResourceGroup& group = queue.resource_groups.emplace_back();
  group.covered_resources = {"cpu", "gpu"};
  for (const std::string& flavor : flavors) {
    group.flavors.push_back({flavor, {{"cpu", cpu, std::nullopt}, {"gpu", gpu, std::nullopt}}});
  }
  return queue;
}

inline LocalQueue MakeLocalQueue(const std::string& name, const std::string& cluster_queue) {
  return {{"team", name}, cluster_queue, ""};
}

inline PodSet MakePodSet(const std::string& name, std::int32_t count, Resources requests,
                         std::optional<TopologyRequest> topology_request = std::nullopt) {
  PodSet pod_set;
  pod_set.name = name;
  pod_set.count = count;
  pod_set.topology_request = std::move(topology_request);
  pod_set.pod_template.requests = std::move(requests);
  return pod_set;
}

inline Workload MakeWorkload(const std::string& name, const std::string& queue,
                             std::vector<PodSet> pod_sets, std::int64_t created = 0,
                             std::int64_t priority = 0) {
  Workload workload;
  workload.key = {"team", name};
  workload.uid = "uid-" + name;
  workload.queue_name = queue;
  workload.pod_sets = std::move(pod_sets);
  workload.creation_seconds = created;
  workload.priority = priority;
  return workload;
}

// Gives the workload's first pod set `assignment` on `flavor`, with quota reserved and admitted.
inline void Admit(Workload& workload, const std::string& queue, const std::string& flavor,
                  const TopologyAssignment& assignment) {
  const PodSet& pod_set = workload.pod_sets.front();
  PodSetAssignment admitted;
  admitted.name = pod_set.name;
  for (const auto& [resource, amount] : pod_set.pod_template.requests) {
    admitted.flavors.Set(resource, flavor);
  }
  admitted.resource_usage = Times(pod_set.pod_template.requests, pod_set.count);
  admitted.count = pod_set.count;
  admitted.topology_assignment = assignment;
  workload.admission = Admission{queue, {admitted}};
  SetCondition(workload, {std::string(kQuotaReserved), "True", "QuotaReserved", ""});
  SetCondition(workload, {std::string(kAdmitted), "True", "Admitted", ""});
}

// Racks r1 {a1, a2} and r2 {b1, b2}; each host has 4 cpu, 4 gpu and 10 pod slots. The queue `gpu`
// leads to the flavor `gpu` and the queue `cpu` to the flavor `cpu`.
inline Cluster MakeCluster() {
  Cluster cluster;
  const Resources host = {{"cpu", 4000}, {"gpu", 4}, {"pods", 10}};
  cluster.nodes = {MakeNode("a1", "r1", host), MakeNode("a2", "r1", host),
                   MakeNode("b1", "r2", host), MakeNode("b2", "r2", host)};
  cluster.topologies = {{"default", {kRack, std::string(kHostnameLabel)}}};
  cluster.flavors = {MakeFlavor("gpu", "default"), MakeFlavor("cpu")};
  cluster.cluster_queues = {MakeQueue("gpu-queue", {"gpu"}), MakeQueue("cpu-queue", {"cpu"})};
  cluster.local_queues = {MakeLocalQueue("gpu", "gpu-queue"), MakeLocalQueue("cpu", "cpu-queue")};
  return cluster;
}

}  // namespace espalier
