#include "host/kueue/objects/daemon_pods.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "host/packing/node_match.hpp"

namespace espalier {
namespace {

// Returns what the DaemonSet controller adds to each of its pods.
std::vector<Toleration> TolerationsOf(const PodTemplate& pods) {
  std::vector<Toleration> tolerations = pods.tolerations;
  for (const char* key : {"not-ready", "unreachable"}) {
    tolerations.push_back({fmt::format("node.kubernetes.io/{}", key), "Exists", "", "NoExecute"});
  }
  for (const char* key : {"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"}) {
    tolerations.push_back({fmt::format("node.kubernetes.io/{}", key), "Exists", "", "NoSchedule"});
  }
  return tolerations;
}

bool Takes(const Node& node, const PodTemplate& pods, const std::vector<Toleration>& tolerations) {
  if (!MatchesSelector(node.labels, pods.node_selector)) return false;
  if (FirstUntoleratedTaint(node.taints, tolerations) != nullptr) return false;
  const auto& required = pods.affinity.required;
  return !required || std::ranges::any_of(*required, [&](const NodeSelectorTerm& term) {
    return !MalformedTerm(term) && TermMatches(term, node.labels, node.name);
  });
}

// The nodes on which a pod of a DaemonSet is.
std::set<std::string_view> NodesOf(const DaemonSet& daemon_set, const std::vector<Pod>& pods) {
  std::set<std::string_view> nodes;
  for (const Pod& pod : pods) {
    if (pod.key.namespace_ != daemon_set.key.namespace_ || pod.node_name.empty()) continue;
    const bool owned = std::ranges::any_of(pod.owners, [&](const OwnerReference& owner) {
      return owner.kind == "DaemonSet" && owner.name == daemon_set.key.name;
    });
    if (owned) nodes.insert(pod.node_name);
  }
  return nodes;
}

}  // namespace

void AddDaemonPods(std::span<const DaemonSet> daemon_sets, Cluster& cluster) {
  std::vector<Pod> missing;
  for (const DaemonSet& daemon_set : daemon_sets) {
    const std::set<std::string_view> nodes = NodesOf(daemon_set, cluster.pods);
    const std::vector<Toleration> tolerations = TolerationsOf(daemon_set.pod_template);
    for (const Node& node : cluster.nodes) {
      if (nodes.contains(node.name) || !Takes(node, daemon_set.pod_template, tolerations)) continue;
      Pod& pod = missing.emplace_back();
      pod.key = {daemon_set.key.namespace_, fmt::format("{}-{}", daemon_set.key.name, node.name)};
      pod.owners = {{"apps/v1", "DaemonSet", daemon_set.key.name, "", true}};
      pod.node_name = node.name;
      pod.phase = "Pending";
      pod.requests = daemon_set.pod_template.requests;
    }
  }
  std::ranges::move(missing, std::back_inserter(cluster.pods));
}

}  // namespace espalier
