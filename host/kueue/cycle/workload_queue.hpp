// The workloads of one ClusterQueue that wait for admission.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/cycle/quota.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// A queue of workloads, which are identified by their index into `workloads`. Both arguments of its
// constructor must outlive it.
class WorkloadQueue {
 public:
  WorkloadQueue(const ClusterQueue& queue, const std::vector<Workload>& workloads);

  const ClusterQueue& cluster_queue() const { return queue_; }
  bool strict() const { return queue_.queueing_strategy == "StrictFIFO"; }
  Quota& quota() { return quota_; }

  void Push(std::size_t workload) { waiting_.insert(workload); }
  // Removes and returns the next workload to evaluate; nullopt while nothing waits or the head of a
  // StrictFIFO queue waits for room.
  std::optional<std::size_t> Pop();

  // Puts back a workload that was evaluated and not admitted: a BestEffortFIFO queue sets it aside
  // until Flush, a StrictFIFO queue blocks until then.
  void Park(std::size_t workload);
  // Sets a workload aside until Flush, whatever the strategy.
  void SetAside(std::size_t workload) { parked_.push_back(workload); }
  // Makes all workloads wait again, each from its first flavor on; called when room came back.
  void Flush();

  // Returns where the next evaluation of a workload resumes in its lists of flavors.
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
