// Explains why the ClusterQueue of a workload is not found.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/kueue/objects/cluster_lookup.hpp"

namespace espalier {

class MissingQueues {
 public:
  // Indexes all queues once, so that each lookup is cheap. Both arguments must outlive it.
  MissingQueues(const Cluster& cluster, const ClusterLookup& lookup);

  // Returns which queue between the workload and its ClusterQueue is missing, and which queues
  // there are or, of many, the one that is spelled most like it: "LocalQueue team/main is not in
  // the input; there is user-queue". Requires that QueueOf(workload) is null.
  std::string WhyMissing(const Workload& workload) const;

 private:
  struct Queues {
    std::string text;                     // "there is user-queue"
    std::vector<std::string_view> names;  // empty when the text lists all, or there are too many
  };

  template <class Object, class Before, class Name>
  static Queues QueuesOf(std::vector<const Object*> objects, const Before& before,
                         const Name& name);
  // Returns the text or, of many names, the one that is nearest to `wanted`.
  static std::string TextFor(std::string_view wanted, const Queues& queues);

  const ClusterLookup& lookup_;
  std::map<std::string_view, Queues> local_queues_;  // by namespace
  std::string all_local_queues_;
  Queues cluster_queues_;
};

}  // namespace espalier
