// The workloads of one ClusterQueue that wait for admission.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "host/kueue/flavor_choice.hpp"
#include "host/kueue/quota.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// Workloads are named by their index into `workloads`, which must outlive the queue.
class WorkloadQueue {
 public:
  WorkloadQueue(const ClusterQueue& queue, const std::vector<Workload>& workloads);

  const ClusterQueue& cluster_queue() const { return queue_; }
  bool strict() const { return queue_.queueing_strategy == "StrictFIFO"; }
  Quota& quota() { return quota_; }

  void Push(std::size_t workload) { waiting_.insert(workload); }
  // The next to evaluate, taken out; none while nothing waits or the head of a StrictFIFO queue
  // waits for room.
  std::optional<std::size_t> Pop();

  // After an evaluation without admission. BestEffortFIFO sets it aside until Flush, StrictFIFO
  // lets nobody pass it.
  void Park(std::size_t workload);
  // Sets it aside until Flush, whatever the strategy.
  void SetAside(std::size_t workload) { parked_.push_back(workload); }
  // Room came back: everything is worth another look, from the first flavor on.
  void Flush();

  // Where the next evaluation of a workload goes on in its lists of flavors.
  const FlavorCursors& NextFlavors(std::size_t workload) const;
  void SetNextFlavors(std::size_t workload, FlavorCursors cursors);

 private:
  struct InQueueOrder {
    const std::vector<Workload>* workloads;
    bool operator()(std::size_t a, std::size_t b) const;
  };

  const ClusterQueue& queue_;
  Quota quota_;
  std::set<std::size_t, InQueueOrder> waiting_;
  std::vector<std::size_t> parked_;
  bool blocked_ = false;
  std::map<std::size_t, FlavorCursors> next_flavors_;
};

}  // namespace espalier
