#include "host/kueue/objects/missing_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "host/model/nearest_name.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostNames = 5;
// A name that is missing is compared with at most so many.
constexpr std::size_t kMostCompared = 100;

// "there is a", "there are a, b", "there are a, b, c, d, e and 3 more", "there is none". Makes
// texts of the names that it says only.
template <class Object, class Before, class Name>
std::string ThereAre(std::vector<const Object*> objects, const Before& before, const Name& name) {
  if (objects.empty()) return "there is none";
  const std::size_t said = std::min(objects.size(), kMostNames);
  std::partial_sort(objects.begin(), objects.begin() + static_cast<std::ptrdiff_t>(said),
                    objects.end(),
                    [&](const Object* a, const Object* b) { return before(*a, *b); });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < said; ++i) names.push_back(Excerpt(name(*objects[i])));
  const std::size_t more = objects.size() - said;
  return fmt::format("there {} {}{}", objects.size() == 1 ? "is" : "are", fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace

template <class Object, class Before, class Name>
MissingQueues::Queues MissingQueues::QueuesOf(std::vector<const Object*> objects,
                                              const Before& before, const Name& name) {
  Queues queues;
  if (objects.size() > kMostNames && objects.size() <= kMostCompared) {
    for (const Object* object : objects) queues.names.push_back(name(*object));
  }
  queues.text = ThereAre(std::move(objects), before, name);
  return queues;
}

std::string MissingQueues::TextFor(std::string_view wanted, const Queues& queues) {
  const std::string_view nearest = NearestName(wanted, queues.names);
  if (nearest.empty()) return queues.text;
  return fmt::format("the nearest of {} is {}", queues.names.size(), Excerpt(nearest));
}

MissingQueues::MissingQueues(const Cluster& cluster, const ClusterLookup& lookup)
    : lookup_(lookup) {
  const auto by_key = [](const LocalQueue& a, const LocalQueue& b) { return a.key < b.key; };
  std::vector<const LocalQueue*> all;
  std::map<std::string_view, std::vector<const LocalQueue*>> by_namespace;
  for (const LocalQueue& queue : cluster.local_queues) {
    all.push_back(&queue);
    by_namespace[queue.key.namespace_].push_back(&queue);
  }
  for (auto& [name_space, own] : by_namespace) {
    local_queues_[name_space] =
        QueuesOf(std::move(own), by_key,
                 [](const LocalQueue& queue) -> const std::string& { return queue.key.name; });
  }
  all_local_queues_ = ThereAre(std::move(all), by_key,
                               [](const LocalQueue& queue) { return queue.key.ToString(); });
  std::vector<const ClusterQueue*> cluster_queues;
  for (const ClusterQueue& queue : cluster.cluster_queues) cluster_queues.push_back(&queue);
  cluster_queues_ = QueuesOf(
      std::move(cluster_queues),
      [](const ClusterQueue& a, const ClusterQueue& b) { return a.name < b.name; },
      [](const ClusterQueue& queue) -> const std::string& { return queue.name; });
}

std::string MissingQueues::WhyMissing(const Workload& workload) const {
  if (const LocalQueue* local_queue = lookup_.LocalQueueOf(workload)) {
    return fmt::format("ClusterQueue {}, where LocalQueue {} leads, is not in the input; {}",
                       Excerpt(local_queue->cluster_queue), Excerpt(local_queue->key.ToString()),
                       TextFor(local_queue->cluster_queue, cluster_queues_));
  }
  // Those elsewhere come with their namespaces.
  const auto own = local_queues_.find(workload.key.namespace_);
  const std::string there =
      own == local_queues_.end() ? all_local_queues_ : TextFor(workload.queue_name, own->second);
  if (workload.queue_name.empty()) return "it names no LocalQueue; " + there;
  return fmt::format("LocalQueue {} is not in the input; {}",
                     Excerpt(ObjectKey{workload.key.namespace_, workload.queue_name}.ToString()),
                     there);
}

}  // namespace espalier
