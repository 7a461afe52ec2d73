#include "host/kueue/cycle/queue_order.hpp"

#include <algorithm>
#include <tuple>

#include "host/kueue/objects/workload_status.hpp"

namespace espalier {

std::int64_t QueueOrderSeconds(const Workload& workload) {
  const Condition* evicted = FindCondition(workload, kEvicted);
  if (evicted == nullptr || !evicted->since_seconds) return workload.creation_seconds;
  const bool goes_to_the_end =
      evicted->reason == "AdmissionCheck" || evicted->reason == "PodsReadyTimeout";
  return goes_to_the_end ? *evicted->since_seconds : workload.creation_seconds;
}

bool ComesBefore(const Workload& a, const Workload& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  const std::int64_t a_seconds = QueueOrderSeconds(a);
  const std::int64_t b_seconds = QueueOrderSeconds(b);
  return std::tie(a_seconds, a.uid, a.key) < std::tie(b_seconds, b.uid, b.key);
}

std::vector<std::size_t> PendingInQueueOrder(const Cluster& cluster) {
  std::vector<std::size_t> pending;
  for (std::size_t i = 0; i < cluster.workloads.size(); ++i) {
    if (IsPending(cluster.workloads[i])) pending.push_back(i);
  }
  std::ranges::stable_sort(pending, [&](std::size_t a, std::size_t b) {
    return ComesBefore(cluster.workloads[a], cluster.workloads[b]);
  });
  return pending;
}

}  // namespace espalier
