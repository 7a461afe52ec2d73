#include "host/readers/kai_queues.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/model/resources.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

constexpr Amount kUnlimited = std::numeric_limits<Amount>::max();
constexpr std::string_view kDefaultQueue = "default-queue";
constexpr std::string_view kNodesAlone = "nodes";  // name of a topology of nothing but nodes

// A resource of a Queue's.
struct QueueResource {
  std::string_view field;
  std::string_view resource;
  double unit;  // in canonical units
};

constexpr QueueResource kQueueResources[] = {
    {"cpu", "cpu", 1}, {"memory", "memory", 1e6}, {"gpu", "nvidia.com/gpu", 1}};

// Returns a number that need not be whole; nullopt for none and for -1, which means the same.
std::optional<double> NumberMember(JsonValue parent, std::string_view name,
                                   const ReadContext& context) {
  const auto value = Member(parent, name);
  if (!value || value->is_null()) return std::nullopt;
  double number = 0;
  if (value->get(number) != simdjson::SUCCESS || (number < 0 && number != -1)) {
    context.Error(*value, "it is not an amount", "a number of 0 or more, or -1 for no bound");
    return std::nullopt;
  }
  return number == -1 ? std::nullopt : std::optional(number);
}

// The least limit of the queues from this one to its root; a cycle of parents ends where it began.
Amount LimitOf(const KaiQueue& queue, const std::string& resource,
               const std::vector<KaiQueue>& queues) {
  Amount least = kUnlimited;
  std::set<std::string_view> seen;
  for (const KaiQueue* at = &queue; at != nullptr && seen.insert(at->name).second;) {
    if (const auto limit = at->limits.find(resource); limit != at->limits.end()) {
      least = std::min(least, limit->second);
    }
    const auto parent = std::ranges::find(queues, at->parent, &KaiQueue::name);
    at = parent == queues.end() ? nullptr : &*parent;
  }
  return least;
}

void AddFlavors(const KaiObjects& kai, Cluster& cluster) {
  if (cluster.topologies.empty() && cluster.flavors.empty()) {
    cluster.topologies.push_back({std::string(kNodesAlone), {std::string(kHostnameLabel)}});
  }
  const bool of_all = cluster.flavors.empty();
  for (const Topology& topology : cluster.topologies) {
    const auto has_topology = [&](const ResourceFlavor& flavor) {
      return flavor.topology_name == topology.name || flavor.name == topology.name;
    };
    const bool of_kai =
        std::ranges::find(kai.topologies, topology.name, &Topology::name) != kai.topologies.end();
    if ((!of_kai && !of_all) || std::ranges::any_of(cluster.flavors, has_topology)) continue;
    cluster.flavors.push_back({.name = topology.name,
                               .node_labels = {},
                               .node_taints = {},
                               .tolerations = {},
                               .topology_name = topology.name});
  }
}

// The resources that nodes have or workloads ask for.
std::vector<std::string> ResourcesOf(const Cluster& cluster) {
  std::set<std::string> resources = {std::string(kPodsResource)};
  for (const Node& node : cluster.nodes) {
    for (const auto& [resource, amount] : node.allocatable) resources.insert(resource);
  }
  for (const Workload& workload : cluster.workloads) {
    for (const PodSet& pod_set : workload.pod_sets) {
      for (const auto& [resource, amount] : pod_set.pod_template.requests) {
        resources.insert(resource);
      }
    }
  }
  return {resources.begin(), resources.end()};
}

ClusterQueue ClusterQueueOf(const KaiQueue& queue, const KaiObjects& kai, const Cluster& cluster,
                            const std::vector<std::string>& resources) {
  ClusterQueue result;
  result.name = queue.name;
  result.namespace_selector.emplace();
  result.unknown_fields = queue.unused_fields;
  ResourceGroup& group = result.resource_groups.emplace_back();
  group.covered_resources = resources;
  for (const ResourceFlavor& flavor : cluster.flavors) {
    if (!flavor.topology_name) continue;
    FlavorQuota& quota = group.flavors.emplace_back();
    quota.flavor = flavor.name;
    for (const std::string& resource : resources) {
      quota.resources.push_back({.resource = resource,
                                 .nominal = LimitOf(queue, resource, kai.queues),
                                 .borrowing_limit = std::nullopt});
    }
  }
  return result;
}

void Warn(std::string object, std::string problem, std::string expected, Diagnostics& diagnostics) {
  diagnostics.AddWarning({.file = "",
                          .object = std::move(object),
                          .field = "",
                          .value = "",
                          .problem = std::move(problem),
                          .expected = std::move(expected)});
}

// Returns the queues that stand for ClusterQueues now.
std::set<std::string_view> AddClusterQueues(const KaiObjects& kai, Cluster& cluster,
                                            Diagnostics& diagnostics) {
  std::set<std::string_view> added;
  const std::vector<std::string> resources = ResourcesOf(cluster);
  for (const KaiQueue& queue : kai.queues) {
    const std::string title = "Queue " + queue.name;
    if (!queue.parent.empty() &&
        std::ranges::find(kai.queues, queue.parent, &KaiQueue::name) == kai.queues.end()) {
      Warn(title,
           fmt::format("its parent {} is not in the input, so its limits bind nothing",
                       queue.parent),
           "the parent among the files", diagnostics);
    }
    if (std::ranges::find(cluster.cluster_queues, queue.name, &ClusterQueue::name) !=
        cluster.cluster_queues.end()) {
      Warn(title, "a ClusterQueue has the same name, and counts in its place",
           "different names, or the queues of one scheduler alone", diagnostics);
      continue;
    }
    cluster.cluster_queues.push_back(ClusterQueueOf(queue, kai, cluster, resources));
    added.insert(queue.name);
  }
  return added;
}

}  // namespace

KaiQueue ReadKaiQueue(JsonValue object, const ReadContext& context) {
  KaiQueue queue;
  queue.name = ReadObjectName(object, context);
  const auto spec = ObjectMember(object, "spec", context);
  if (!spec) return queue;
  queue.parent = TextMember(*spec, "parentQueue", context);
  const auto resources = ObjectMember(*spec, "resources", context);
  if (!resources) return queue;
  for (const QueueResource& of : kQueueResources) {
    const auto amounts = ObjectMember(*resources, of.field, context);
    if (!amounts) continue;
    if (const auto limit = NumberMember(*amounts, "limit", context)) {
      const double most = static_cast<double>(kUnlimited) / 2;
      queue.limits[std::string(of.resource)] =
          static_cast<Amount>(std::min(*limit * of.unit, most));
    }
    if (NumberMember(*amounts, "quota", context)) {
      queue.unused_fields.push_back(fmt::format("spec.resources.{}.quota", of.field));
    }
  }
  return queue;
}

void AddKaiTopologies(const KaiObjects& kai, Cluster& cluster, Diagnostics& diagnostics) {
  for (const Topology& topology : kai.topologies) {
    const auto same = std::ranges::find(cluster.topologies, topology.name, &Topology::name);
    if (same == cluster.topologies.end()) {
      cluster.topologies.push_back(topology);
    } else if (same->levels != topology.levels) {
      Warn("Topology " + topology.name,
           "Kueue's Topology of this name has other levels, and counts in place of KAI's",
           "the same levels in both", diagnostics);
    }
  }
}

void AddKai(const KaiObjects& kai, Cluster& cluster, Diagnostics& diagnostics) {
  if (kai.queues.empty() && kai.topologies.empty()) return;
  const std::size_t before = cluster.flavors.size();
  AddFlavors(kai, cluster);
  if (cluster.flavors.size() > before + 1) {
    Warn("",
         fmt::format("{} topologies have the same nodes: what is placed by one of them takes "
                     "no room of another",
                     cluster.flavors.size() - before),
         "one Topology, or flavors of different nodes", diagnostics);
  }
  const std::set<std::string_view> queues = AddClusterQueues(kai, cluster, diagnostics);
  const bool of_kai_alone = cluster.local_queues.empty();
  std::set<ObjectKey> known;
  for (const LocalQueue& queue : cluster.local_queues) known.insert(queue.key);
  for (Workload& workload : cluster.workloads) {
    std::string& name = workload.queue_name;
    if (name.empty() && of_kai_alone && queues.contains(kDefaultQueue)) name = kDefaultQueue;
    if (!queues.contains(name)) continue;
    const ObjectKey key{workload.key.namespace_, name};
    if (known.insert(key).second) cluster.local_queues.push_back({key, name, ""});
  }
}

}  // namespace espalier
