#include "host/kueue/queue_order.hpp"

#include <algorithm>
#include <tuple>

#include "host/kueue/workload_status.hpp"

namespace espalier {

bool ComesBefore(const Workload& a, const Workload& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  return std::tie(a.creation_seconds, a.uid, a.key) < std::tie(b.creation_seconds, b.uid, b.key);
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
