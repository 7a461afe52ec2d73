// Finds pods that have a place in a domain and could be on none of its nodes. Where a topology ends
// above the hosts, Kueue counts the sum of a domain's nodes and looks at no node selector, affinity
// or taint (R5.1, R7.1); the kube-scheduler looks at each node.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/engine/request.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

class PodsWithoutNode {
 public:
  // `nodes` are those of the cluster, which may be kept apart from it. Both outlive this.
  PodsWithoutNode(const Cluster& cluster, std::span<const Node> nodes);

  // Returns a text for each pod set of an answer, or of an admission, with more pods in a domain
  // than its nodes hold beside the pods of others that are on them. Where pods of workloads with a
  // topology are is not known there.
  std::vector<std::string> Find(const WorkloadRequest& request, const WorkloadAnswer& answer);
  std::vector<std::string> Find(const Workload& workload,
                                std::span<const PodSetAssignment> assignments);
  // Returns the same of a pod set with pods in the domains of an assignment.
  std::vector<std::string> Find(const PodSetRequest& pod_set, const TopologyAssignment& assignment);

  // Returns a text for each pod set of a request that no answer can prove to have nodes, as its
  // topology ends above the hosts.
  std::vector<std::string> FindUnproven(const WorkloadRequest& request) const;

 private:
  // The nodes of a flavor by the values of its levels.
  using NodesByDomain = std::map<std::vector<std::string>, std::vector<const Node*>>;

  // Returns the topology of a flavor if it ends above the hosts, else null.
  const Topology* AboveHosts(std::string_view flavor) const;
  const NodesByDomain& NodesOf(const ResourceFlavor& flavor, const Topology& topology);
  void Add(const std::string& pod_set, const std::string& flavor_name, const PodTemplate& pods,
           const TopologyAssignment& assignment, std::vector<std::string>& found);
  // Returns how many of the pods a node holds.
  std::int64_t HeldBy(const Node& node, const PodTemplate& pods,
                      const ResourceFlavor& flavor) const;

  std::span<const Node> nodes_;
  ClusterLookup lookup_;
  std::map<std::string, Resources, std::less<>> used_;  // by others, by node
  std::map<std::string, NodesByDomain, std::less<>> by_flavor_;
};

}  // namespace espalier
