// Clusters with admitted workloads, for questions about moving them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/model/cluster.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/clusters.hpp"

namespace espalier {

inline Node HostInRack(const std::string& name, const std::string& rack) {
  Node node = HostNode(rack + "/" + name, {{"gpu", 4}, {"pods", 10}});
  node.name = "node-" + name;
  return node;
}

// Returns three racks of a host each, of four accelerators, and one queue.
inline Cluster ThreeRacks() {
  Cluster cluster;
  cluster.nodes = {HostInRack("a", "r1"), HostInRack("b", "r2"), HostInRack("c", "r3")};
  cluster.topologies = {{"default", {"rack", std::string(kHostnameLabel)}}};
  cluster.flavors.resize(1);
  cluster.flavors[0].name = "tas";
  cluster.flavors[0].topology_name = "default";
  ClusterQueue queue;
  queue.name = "queue";
  queue.resource_groups = {{{"gpu"}, {{"tas", {{"gpu", 100, std::nullopt}}}}}};
  cluster.cluster_queues = {queue};
  cluster.local_queues = {{{"team", "main"}, "queue", ""}};
  return cluster;
}

// Returns a workload of pods with one accelerator each on some hosts.
inline Workload RunningOn(const std::string& name, std::int64_t priority,
                          std::vector<std::pair<std::string, std::int32_t>> hosts) {
  Workload workload;
  workload.key = {"team", name};
  workload.uid = name;
  workload.priority = priority;
  workload.queue_name = "main";
  const TopologyAssignment assignment = OnHosts(std::move(hosts));
  std::int32_t pods = 0;
  for (const TopologyDomainAssignment& domain : assignment.domains) pods += domain.count;
  PodSet& pod_set = workload.pod_sets.emplace_back();
  pod_set.name = "main";
  pod_set.count = pods;
  pod_set.topology_request = Unconstrained();
  pod_set.pod_template.requests = {{"gpu", 1}};
  workload.admission = Admission{"queue",
                                 {{.name = "main",
                                   .flavors = {{"gpu", "tas"}},
                                   .count = pods,
                                   .topology_assignment = assignment}}};
  workload.conditions = {{.type = "QuotaReserved", .status = "True"}};
  return workload;
}

}  // namespace espalier
