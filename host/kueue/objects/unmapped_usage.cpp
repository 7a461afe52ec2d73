#include "host/kueue/objects/unmapped_usage.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/assignments.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/pod_phase.hpp"

namespace espalier {
namespace {

std::string PodsText(std::int64_t pods) {
  return fmt::format("{} pod{}", pods, pods == 1 ? "" : "s");
}

// The leaves that nodes of a flavor are in, by their ids (R4.1).
std::set<std::string> LeavesOf(const std::vector<Node>& nodes, const ResourceFlavor& flavor,
                               const Topology& topology) {
  std::set<std::string> leaves;
  for (const Node& node : nodes) {
    const bool matches = std::ranges::all_of(flavor.node_labels, [&](const auto& label) {
      const std::string* value = node.labels.Find(label.first);
      return value != nullptr && *value == label.second;
    });
    if (!matches) continue;
    std::vector<std::string> values;
    for (const std::string& level : topology.levels) {
      const std::string* value = node.labels.Find(level);
      if (value != nullptr) values.push_back(*value);
    }
    if (values.size() != topology.levels.size()) continue;
    const bool by_host = topology.levels.back() == kHostnameLabel;
    leaves.insert(DomainIdText(by_host ? std::vector{values.back()} : values));
  }
  return leaves;
}

class Finder {
 public:
  explicit Finder(const Cluster& cluster) : cluster_(cluster), lookup_(cluster) {
    for (const Pod& pod : cluster.pods) {
      if (pod.node_name.empty() || HasEnded(pod) || !IsTasPod(pod)) continue;
      const std::string* name = pod.annotations.Find(kWorkloadAnnotation);
      ++on_nodes_[{pod.key.namespace_, name == nullptr ? std::string() : *name}];
    }
  }

  std::vector<std::string> Find() {
    std::vector<std::string> sentences;
    for (const Workload& workload : cluster_.workloads) {
      const auto pods = on_nodes_.find(workload.key);
      if (HasReservation(workload)) {
        AddUnplaced(workload, sentences);
      } else if (pods != on_nodes_.end()) {
        sentences.push_back(
            fmt::format("workload {} {}, but {} of it {} on nodes: what {} there counts as nothing",
                        Excerpt(workload.key.ToString()),
                        HasCondition(workload, kFinished) ? "has finished" : "holds no quota",
                        PodsText(pods->second), pods->second == 1 ? "is" : "are",
                        pods->second == 1 ? "it uses" : "they use"));
      }
      if (pods != on_nodes_.end()) on_nodes_.erase(pods);
    }
    for (const auto& [key, pods] : on_nodes_) {
      const std::string who =
          key.name.empty()
              ? fmt::format("namespace {} without a workload", key.namespace_)
              : fmt::format("workload {}, which is not in the input", Excerpt(key.ToString()));
      sentences.push_back(
          fmt::format("{} of {} {} on nodes and {} for a topology: what {} there counts as nothing",
                      PodsText(pods), who, pods == 1 ? "is" : "are", pods == 1 ? "asks" : "ask",
                      pods == 1 ? "it uses" : "they use"));
    }
    return sentences;
  }

 private:
  void AddUnplaced(const Workload& workload, std::vector<std::string>& sentences) {
    std::vector<std::string> problems;
    const auto pod_sets = ByName(workload.pod_sets);
    for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
      const PodSet* pod_set = FindOrNull(pod_sets, assignment.name);
      const ResourceFlavor* flavor = FlavorOf(assignment);
      if (flavor == nullptr && assignment.topology_assignment && !cluster_.nodes.empty()) {
        std::set<std::string> flavors;
        for (const auto& [resource, name] : assignment.flavors) flavors.insert(Excerpt(name));
        problems.push_back(fmt::format(
            "pod set {} has places on {}, which is no flavor with a topology in the input",
            Excerpt(assignment.name), fmt::join(flavors, ", ")));
      }
      if (flavor == nullptr || assignment.delayed_topology_request == "Pending") continue;
      if (pod_set == nullptr) {
        problems.push_back(fmt::format("pod set {} of its assignment is none of its pod sets",
                                       Excerpt(assignment.name)));
        continue;
      }
      AddUnplaced(assignment, assignment.count.value_or(pod_set->count), *flavor, problems);
    }
    if (problems.empty()) return;
    sentences.push_back(fmt::format("workload {}: {}: what they use counts as nothing",
                                    Excerpt(workload.key.ToString()), fmt::join(problems, "; ")));
  }

  void AddUnplaced(const PodSetAssignment& assignment, std::int64_t count,
                   const ResourceFlavor& flavor, std::vector<std::string>& problems) {
    std::int64_t placed = 0;
    std::vector<std::string> nowhere;
    std::int64_t pods_nowhere = 0;
    if (assignment.topology_assignment) {
      const std::set<std::string>& leaves = Leaves(flavor);
      for (const TopologyDomainAssignment& domain : assignment.topology_assignment->domains) {
        placed += domain.count;
        std::string leaf = DomainIdText(domain.values);
        if (cluster_.nodes.empty() || leaves.contains(leaf)) continue;
        pods_nowhere += domain.count;
        nowhere.push_back(Excerpt(leaf));
      }
    }
    if (placed < count) {
      problems.push_back(fmt::format("{} of the {} of pod set {} have no place in its assignment",
                                     count - placed, PodsText(count), Excerpt(assignment.name)));
    }
    if (nowhere.empty()) return;
    constexpr std::size_t kMostNamed = 3;
    const std::size_t more = nowhere.size() - std::min(nowhere.size(), kMostNamed);
    nowhere.resize(nowhere.size() - more);
    problems.push_back(fmt::format(
        "{} of pod set {} {} in {}{}, where flavor {} has no node", PodsText(pods_nowhere),
        Excerpt(assignment.name), pods_nowhere == 1 ? "is" : "are", fmt::join(nowhere, ", "),
        more == 0 ? std::string() : fmt::format(" and {} more domains", more), flavor.name));
  }

  const ResourceFlavor* FlavorOf(const PodSetAssignment& assignment) const {
    for (const auto& [resource, name] : assignment.flavors) {
      if (lookup_.IsTas(name)) return lookup_.Flavor(name);
    }
    return nullptr;
  }

  const std::set<std::string>& Leaves(const ResourceFlavor& flavor) {
    const auto [known, added] = leaves_.try_emplace(flavor.name);
    if (added) known->second = LeavesOf(cluster_.nodes, flavor, *lookup_.TopologyOf(flavor));
    return known->second;
  }

  const Cluster& cluster_;
  ClusterLookup lookup_;
  std::map<ObjectKey, std::int64_t> on_nodes_;  // pods that workloads account for
  std::map<std::string, std::set<std::string>> leaves_;
};

}  // namespace

std::vector<std::string> UnmappedUsage(const Cluster& cluster) { return Finder(cluster).Find(); }

}  // namespace espalier
