#include "host/kueue/validation/pods_without_node.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/validation/ruled_out.hpp"
#include "host/model/by_name.hpp"
#include "host/model/excerpt.hpp"
#include "host/packing/node_match.hpp"

namespace espalier {

PodsWithoutNode::PodsWithoutNode(const Cluster& cluster, std::span<const Node> nodes)
    : nodes_(nodes), lookup_(cluster) {
  for (NodeUsage& usage : NonTasUsage(cluster.pods)) {
    used_.emplace(std::move(usage.node), std::move(usage.usage));
  }
}

const Topology* PodsWithoutNode::AboveHosts(std::string_view flavor_name) const {
  const ResourceFlavor* flavor = lookup_.Flavor(flavor_name);
  const Topology* topology = flavor == nullptr ? nullptr : lookup_.TopologyOf(*flavor);
  return topology == nullptr || topology->levels.back() == kHostnameLabel ? nullptr : topology;
}

const PodsWithoutNode::NodesByDomain& PodsWithoutNode::NodesOf(const ResourceFlavor& flavor,
                                                               const Topology& topology) {
  const auto [known, fresh] = by_flavor_.try_emplace(flavor.name);
  if (!fresh) return known->second;
  for (const Node& node : nodes_) {
    // Nothing is known of nodes that a server tells nothing but the labels of.
    if (!node.ready || node.unschedulable || node.allocatable.empty()) continue;
    if (!MatchesSelector(node.labels, flavor.node_labels)) continue;
    std::vector<std::string> path;
    for (const std::string& level : topology.levels) {
      if (const std::string* value = node.labels.Find(level)) path.push_back(*value);
    }
    if (path.size() == topology.levels.size()) known->second[std::move(path)].push_back(&node);
  }
  return known->second;
}

std::int64_t PodsWithoutNode::HeldBy(const Node& node, const PodTemplate& pods,
                                     const ResourceFlavor& flavor) const {
  NodeConstraints constraints{pods.node_selector, pods.tolerations, pods.affinity.required, {}};
  constraints.tolerations.insert(constraints.tolerations.end(), flavor.tolerations.begin(),
                                 flavor.tolerations.end());
  const Node* const only = &node;
  if (!WhatRulesOut(constraints, {&only, 1}).empty()) return 0;
  const auto on_node = used_.find(node.name);
  Resources one = pods.requests;
  one.Set(kPodsResource, 1);
  std::int64_t held = std::numeric_limits<std::int32_t>::max();
  for (const auto& [resource, amount] : one) {
    if (amount <= 0) continue;
    const Amount* all = node.allocatable.Find(resource);
    const Amount* used = on_node == used_.end() ? nullptr : on_node->second.Find(resource);
    const Amount left = SaturatingSubtract(all == nullptr ? 0 : *all, used == nullptr ? 0 : *used);
    held = std::min(held, std::max<Amount>(left, 0) / amount);
  }
  return held;
}

void PodsWithoutNode::Add(const std::string& pod_set, const std::string& flavor_name,
                          const PodTemplate& pods, const TopologyAssignment& assignment,
                          std::vector<std::string>& found) {
  const Topology* topology = AboveHosts(flavor_name);
  if (topology == nullptr || nodes_.empty()) return;
  const ResourceFlavor* flavor = lookup_.Flavor(flavor_name);
  const NodesByDomain& domains = NodesOf(*flavor, *topology);
  std::string first;
  std::size_t more = 0;
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    const auto nodes = domains.find(domain.values);
    if (nodes == domains.end()) continue;  // of another cluster's files
    std::int64_t held = 0;
    for (const Node* node : nodes->second) {
      held = std::min<std::int64_t>(held + HeldBy(*node, pods, *flavor),
                                    std::numeric_limits<std::int32_t>::max());
    }
    if (held >= domain.count) continue;
    if (!first.empty()) {
      ++more;
      continue;
    }
    first = fmt::format(
        "{} of the {} in {} fit on one of its {} by itself", held,
        domain.count == 1 ? "1 pod" : fmt::format("{} pods", domain.count),
        Excerpt(fmt::format("{}", fmt::join(domain.values, "/"))),
        nodes->second.size() == 1 ? "1 node" : fmt::format("{} nodes", nodes->second.size()));
  }
  if (first.empty()) return;
  found.push_back(fmt::format(
      "pod set {}: {}{}; the topology ends at {}, above the hosts, and Kueue counts their sum",
      Excerpt(pod_set), first, more == 0 ? "" : fmt::format(", likewise in {} more domains", more),
      Excerpt(topology->levels.back())));
}

std::vector<std::string> PodsWithoutNode::Find(const WorkloadRequest& request,
                                               const WorkloadAnswer& answer) {
  std::vector<std::string> found;
  const auto answers = ByName(answer.pod_sets);
  if (!Fits(answer)) return found;
  for (const PodSetRequest& pod_set : request.pod_sets) {
    const PodSetAnswer* placed = FindOrNull(answers, pod_set.name);
    if (placed == nullptr || !placed->assignment) continue;
    std::ranges::move(Find(pod_set, *placed->assignment), std::back_inserter(found));
  }
  return found;
}

std::vector<std::string> PodsWithoutNode::Find(const PodSetRequest& pod_set,
                                               const TopologyAssignment& assignment) {
  std::vector<std::string> found;
  PodTemplate pods = pod_set.pod_template;
  pods.requests = pod_set.requests;
  Add(pod_set.name, pod_set.flavor, pods, assignment, found);
  return found;
}

std::vector<std::string> PodsWithoutNode::FindUnproven(const WorkloadRequest& request) const {
  std::vector<std::string> found;
  for (const PodSetRequest& pod_set : request.pod_sets) {
    const Topology* topology = AboveHosts(pod_set.flavor);
    if (topology == nullptr) continue;
    found.push_back(fmt::format(
        "pod set {}: whether its pods fit on single nodes is not looked at; the topology ends at "
        "{}, above the hosts, and Kueue counts their sum",
        Excerpt(pod_set.name), Excerpt(topology->levels.back())));
  }
  return found;
}

std::vector<std::string> PodsWithoutNode::Find(const Workload& workload,
                                               std::span<const PodSetAssignment> assignments) {
  std::vector<std::string> found;
  const auto pod_sets = ByName(workload.pod_sets);
  for (const PodSetAssignment& assignment : assignments) {
    const PodSet* pod_set = FindOrNull(pod_sets, assignment.name);
    const std::vector<std::string> flavors = TasFlavors(assignment.flavors, lookup_);
    if (pod_set == nullptr || flavors.empty() || !assignment.topology_assignment) continue;
    Add(assignment.name, flavors.front(), pod_set->pod_template, *assignment.topology_assignment,
        found);
  }
  return found;
}

}  // namespace espalier
