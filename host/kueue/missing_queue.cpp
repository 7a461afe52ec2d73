#include "host/kueue/missing_queue.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostNames = 5;

// "there is a", "there are a, b", "there are a, b, c, d, e and 3 more", "there is none".
std::string ThereAre(std::vector<std::string> names) {
  if (names.empty()) return "there is none";
  std::ranges::sort(names);
  const std::size_t more = names.size() - std::min(names.size(), kMostNames);
  names.resize(names.size() - more);
  for (std::string& name : names) name = Excerpt(name);
  return fmt::format("there {} {}{}", names.size() == 1 ? "is" : "are", fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

// Those of the namespace, or with their namespaces those of all others where it has none.
std::vector<std::string> LocalQueueNames(const Cluster& cluster, const std::string& name_space) {
  std::vector<std::string> here;
  std::vector<std::string> elsewhere;
  for (const LocalQueue& queue : cluster.local_queues) {
    if (queue.key.namespace_ == name_space) here.push_back(queue.key.name);
    elsewhere.push_back(queue.key.ToString());
  }
  return here.empty() ? elsewhere : here;
}

}  // namespace

std::string WhyQueueIsMissing(const Workload& workload, const Cluster& cluster,
                              const ClusterLookup& lookup) {
  if (const LocalQueue* local_queue = lookup.LocalQueueOf(workload)) {
    std::vector<std::string> names;
    for (const ClusterQueue& queue : cluster.cluster_queues) names.push_back(queue.name);
    return fmt::format("ClusterQueue {}, where LocalQueue {} leads, is not in the input; {}",
                       Excerpt(local_queue->cluster_queue), Excerpt(local_queue->key.ToString()),
                       ThereAre(std::move(names)));
  }
  const std::string there = ThereAre(LocalQueueNames(cluster, workload.key.namespace_));
  if (workload.queue_name.empty()) return "it names no LocalQueue; " + there;
  return fmt::format("LocalQueue {} is not in the input; {}",
                     Excerpt(ObjectKey{workload.key.namespace_, workload.queue_name}.ToString()),
                     there);
}

}  // namespace espalier
