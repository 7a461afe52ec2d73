#include "host/kueue/objects/cluster_lookup.hpp"

namespace espalier {
namespace {

template <class Map, class Key>
auto FindOrNull(const Map& map, const Key& key) -> typename Map::mapped_type {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : it->second;
}

}  // namespace

ClusterLookup::ClusterLookup(const Cluster& cluster) {
  if (cluster.configuration) configuration_ = &*cluster.configuration;
  for (const ResourceFlavor& flavor : cluster.flavors) flavors_.emplace(flavor.name, &flavor);
  for (const Topology& topology : cluster.topologies) {
    topologies_.emplace(topology.name, &topology);
  }
  for (const ClusterQueue& queue : cluster.cluster_queues) queues_.emplace(queue.name, &queue);
  for (const LocalQueue& queue : cluster.local_queues) local_queues_.emplace(queue.key, &queue);
  for (const AdmissionCheck& check : cluster.admission_checks) checks_.emplace(check.name, &check);
  for (const Workload& workload : cluster.workloads) workloads_.emplace(workload.key, &workload);
}

const ResourceFlavor* ClusterLookup::Flavor(std::string_view name) const {
  return FindOrNull(flavors_, name);
}

const Topology* ClusterLookup::TopologyOf(const ResourceFlavor& flavor) const {
  if (!flavor.topology_name) return nullptr;
  return FindOrNull(topologies_, std::string_view(*flavor.topology_name));
}

const Topology* ClusterLookup::TopologyOf(std::string_view flavor) const {
  const ResourceFlavor* found = Flavor(flavor);
  return found == nullptr ? nullptr : TopologyOf(*found);
}

const ClusterQueue* ClusterLookup::Queue(std::string_view name) const {
  return FindOrNull(queues_, name);
}

const LocalQueue* ClusterLookup::LocalQueueOf(const Workload& workload) const {
  return FindOrNull(local_queues_, ObjectKey{workload.key.namespace_, workload.queue_name});
}

const ClusterQueue* ClusterLookup::QueueOf(const Workload& workload) const {
  const LocalQueue* local_queue = LocalQueueOf(workload);
  return local_queue == nullptr ? nullptr : Queue(local_queue->cluster_queue);
}

const AdmissionCheck* ClusterLookup::Check(std::string_view name) const {
  return FindOrNull(checks_, name);
}

const Workload* ClusterLookup::FindWorkload(const ObjectKey& key) const {
  return FindOrNull(workloads_, key);
}

bool ClusterLookup::IsTas(std::string_view flavor) const { return TopologyOf(flavor) != nullptr; }

}  // namespace espalier
