#include "host/kueue/elastic/slice_placement.hpp"

#include <algorithm>
#include <map>

#include "host/kueue/elastic/workload_slices.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

std::optional<std::size_t> LevelOf(const Topology& topology, const std::string& key) {
  const auto found = std::ranges::find(topology.levels, key);
  if (found == topology.levels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - topology.levels.begin());
}

// Returns how many values all paths have in common at their start.
std::size_t CommonLevels(const std::vector<std::vector<std::string>>& paths) {
  if (paths.empty()) return 0;
  std::size_t common = paths.front().size();
  for (const auto& path : paths) {
    const auto end = std::ranges::mismatch(paths.front(), path).in1;
    common = std::min(common, static_cast<std::size_t>(end - paths.front().begin()));
  }
  return common;
}

bool HasPods(const PodSetAssignment* assignment) {
  return assignment != nullptr && assignment->topology_assignment &&
         !assignment->topology_assignment->domains.empty();
}

// The old pods of one pod set: how far they are together, and where.
struct SlicePlace {
  const Topology* topology = nullptr;
  std::vector<std::string> path;  // the values that all of them share
};

}  // namespace

const Topology* TopologyOf(const PodSetAssignment& assignment, const ClusterLookup& lookup) {
  for (const auto& [resource, name] : assignment.flavors) {
    if (const Topology* topology = lookup.TopologyOf(name)) return topology;
  }
  return nullptr;
}

std::vector<std::size_t> SliceLevels(const std::optional<TopologyRequest>& request,
                                     const Topology& topology) {
  std::vector<std::size_t> levels;
  if (!request) return levels;
  const auto add = [&](const std::string& key) {
    if (const auto level = LevelOf(topology, key)) levels.push_back(*level);
  };
  if (request->slice_topology) add(*request->slice_topology);
  for (const SliceConstraint& constraint : request->slice_constraints) add(constraint.topology);
  std::ranges::sort(levels);
  return levels;
}

TopologyAssignment Merged(const TopologyAssignment& a, const TopologyAssignment& b) {
  std::map<std::vector<std::string>, std::int32_t> counts;
  for (const TopologyAssignment* part : {&a, &b}) {
    for (const TopologyDomainAssignment& domain : part->domains) {
      std::int32_t& count = counts[domain.values];
      count = AddCounts(count, domain.count);
    }
  }
  TopologyAssignment merged{a.levels, {}};
  for (const auto& [values, count] : counts) merged.domains.push_back({values, count});
  return merged;
}

ClusterQueue QueueOfRecordedFlavors(const Workload& workload) {
  ClusterQueue queue;
  queue.name = workload.admission->cluster_queue;
  std::map<std::string, std::string> flavors;  // by resource
  for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
    for (const auto& [resource, flavor] : assignment.flavors) flavors.emplace(resource, flavor);
  }
  for (const auto& [resource, flavor] : flavors) {
    ResourceGroup& group = queue.resource_groups.emplace_back();
    group.covered_resources = {resource};
    group.flavors.push_back({flavor, {{resource, 0, std::nullopt}}});
  }
  return queue;
}

std::vector<std::vector<std::string>> LeafPaths::PathsOf(const TopologyAssignment& assignment,
                                                         const Topology& topology,
                                                         const Cluster& cluster) {
  std::vector<std::vector<std::string>> paths;
  const bool whole = assignment.levels.size() == topology.levels.size();
  if (!whole && nodes_.empty()) {
    for (const Node& node : cluster.nodes) {
      const std::string* name = node.labels.Find(kHostnameLabel);
      if (name != nullptr) nodes_.emplace(*name, &node);
    }
  }
  for (const TopologyDomainAssignment& domain : assignment.domains) {
    std::vector<std::string>& path = paths.emplace_back(domain.values);
    if (whole || domain.values.empty()) continue;
    const auto node = nodes_.find(domain.values.back());
    if (node == nodes_.end()) continue;
    path.clear();
    for (const std::string& level : topology.levels) {
      const std::string* value = node->second->labels.Find(level);
      path.push_back(value == nullptr ? "" : *value);
    }
  }
  return paths;
}

std::vector<Workload> NearVariants(const Workload& slice, const Workload& old,
                                   const ClusterLookup& lookup, const Cluster& cluster,
                                   LeafPaths& paths) {
  const auto admitted = ByName(old.admission->pod_set_assignments);
  const bool any_pods = std::ranges::any_of(slice.pod_sets, [&](const PodSet& pod_set) {
    return HasPods(FindOrNull(admitted, pod_set.name));
  });
  if (!any_pods) {
    Workload fresh = slice;  // placed as one that was never admitted
    fresh.annotations.Erase(kElasticJobAnnotation);
    return {fresh};
  }
  std::vector<SlicePlace> places(slice.pod_sets.size());
  Workload free = slice;
  std::size_t most = 0;   // levels that some pod set may be held in
  std::size_t least = 0;  // levels that some pod set must be held in
  for (std::size_t i = 0; i < slice.pod_sets.size(); ++i) {
    auto& request = free.pod_sets[i].topology_request;
    const PodSetAssignment* assignment = FindOrNull(admitted, slice.pod_sets[i].name);
    if (!request) continue;
    if (!HasPods(assignment)) {  // nothing to be near
      if (request->preferred && !request->required) {
        request->preferred.reset();
        request->unconstrained = true;
      }
      continue;
    }
    const std::optional<std::string> level =
        request->required ? request->required : request->preferred;
    const Topology* topology = TopologyOf(*assignment, lookup);
    if (!level || topology == nullptr) continue;
    const std::size_t asked = LevelOf(*topology, *level).value_or(0) + 1;
    SlicePlace& place = places[i];
    place.topology = topology;
    const auto leaves = paths.PathsOf(*assignment->topology_assignment, *topology, cluster);
    if (!leaves.empty()) place.path = leaves.front();
    place.path.resize(std::min({CommonLevels(leaves), asked, place.path.size()}));
    most = std::max(most, place.path.size());
    if (request->required) least = std::max(least, place.path.size());
    request->required.reset();
    request->preferred.reset();
    request->unconstrained = true;
  }
  std::vector<Workload> variants;
  for (std::size_t levels = most + 1; levels-- > least;) {
    Workload& variant = variants.emplace_back(free);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const SlicePlace& place = places[i];
      for (std::size_t level = 0; level < std::min(levels, place.path.size()); ++level) {
        variant.pod_sets[i].pod_template.node_selector.Set(place.topology->levels[level],
                                                           place.path[level]);
      }
    }
  }
  return variants;
}

}  // namespace espalier
