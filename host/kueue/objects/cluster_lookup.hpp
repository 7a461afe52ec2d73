// Finds objects of a cluster by name.
#pragma once

#include <map>
#include <string_view>

#include "host/model/cluster.hpp"

namespace espalier {

// An index of a cluster's objects by name. Points into the cluster, which must outlive it and keep
// its flavors, topologies, queues, workloads and Configuration in place. Of two objects of one name
// the first counts.
class ClusterLookup {
 public:
  explicit ClusterLookup(const Cluster& cluster);

  // Returns the object of that name; like each lookup below, null when there is none.
  const ResourceFlavor* Flavor(std::string_view name) const;
  // Returns the topology of a flavor; also null when the flavor has none.
  const Topology* TopologyOf(const ResourceFlavor& flavor) const;
  const Topology* TopologyOf(std::string_view flavor) const;
  const ClusterQueue* Queue(std::string_view name) const;
  const LocalQueue* LocalQueueOf(const Workload& workload) const;
  // Returns the ClusterQueue that the workload's LocalQueue points to.
  const ClusterQueue* QueueOf(const Workload& workload) const;
  const AdmissionCheck* Check(std::string_view name) const;
  const Workload* FindWorkload(const ObjectKey& key) const;
  // Returns Kueue's Configuration.
  const KueueConfiguration* configuration() const { return configuration_; }

  // Returns whether the flavor has a topology and the topology is known.
  bool IsTas(std::string_view flavor) const;

 private:
  std::map<std::string_view, const ResourceFlavor*> flavors_;
  std::map<std::string_view, const Topology*> topologies_;
  std::map<std::string_view, const ClusterQueue*> queues_;
  std::map<ObjectKey, const LocalQueue*> local_queues_;
  std::map<std::string_view, const AdmissionCheck*> checks_;
  std::map<ObjectKey, const Workload*> workloads_;
  const KueueConfiguration* configuration_ = nullptr;
};

}  // namespace espalier
