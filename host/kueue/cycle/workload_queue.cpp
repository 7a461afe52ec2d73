#include "host/kueue/cycle/workload_queue.hpp"

#include "host/kueue/cycle/queue_order.hpp"

namespace espalier {

bool WorkloadQueue::InQueueOrder::operator()(std::size_t a, std::size_t b) const {
  if (ComesBefore((*workloads)[a], (*workloads)[b])) return true;
  return !ComesBefore((*workloads)[b], (*workloads)[a]) && a < b;
}

WorkloadQueue::WorkloadQueue(const ClusterQueue& queue, const std::vector<Workload>& workloads)
    : queue_(queue), quota_(queue), waiting_(InQueueOrder{&workloads}) {}

std::optional<std::size_t> WorkloadQueue::Pop() {
  if (waiting_.empty() || blocked_) return std::nullopt;
  return waiting_.extract(waiting_.begin()).value();
}

void WorkloadQueue::Park(std::size_t workload) {
  if (strict()) {
    waiting_.insert(workload);
    blocked_ = true;
  } else {
    SetAside(workload);
  }
}

void WorkloadQueue::Flush() {
  waiting_.insert(parked_.begin(), parked_.end());
  parked_.clear();
  next_flavors_.clear();
  blocked_ = false;
}

const FlavorCursors& WorkloadQueue::NextFlavors(std::size_t workload) const {
  static const FlavorCursors kNone;
  const auto it = next_flavors_.find(workload);
  return it == next_flavors_.end() ? kNone : it->second;
}

void WorkloadQueue::SetNextFlavors(std::size_t workload, FlavorCursors cursors) {
  if (cursors.empty()) {
    next_flavors_.erase(workload);
  } else {
    next_flavors_[workload] = std::move(cursors);
  }
}

}  // namespace espalier
