// Words for workloads whose queue is not in the input.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "host/kueue/cluster_lookup.hpp"

namespace espalier {

class MissingQueues {
 public:
  // Both outlive it. Looks at all queues once, so that each question is cheap.
  MissingQueues(const Cluster& cluster, const ClusterLookup& lookup);

  // Says which queue between the workload and its ClusterQueue is missing, and which ones there
  // are: "LocalQueue team/main is not in the input; there is user-queue". Requires that
  // QueueOf(workload) is null.
  std::string WhyMissing(const Workload& workload) const;

 private:
  const ClusterLookup& lookup_;
  std::map<std::string_view, std::string> local_queues_;  // by namespace: "there is user-queue"
  std::string all_local_queues_;
  std::string cluster_queues_;
};

}  // namespace espalier
