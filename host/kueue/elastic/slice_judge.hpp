// Judges slices of an elastic workload: whether there are quota and room for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/cycle/cycle_state.hpp"
#include "host/kueue/cycle/nomination.hpp"
#include "host/kueue/cycle/quota.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/elastic/slice_placement.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Judges what may take the place of the current slice of one job. Counts the quota of its
// ClusterQueue, and the room of the cluster.
class SliceJudge {
 public:
  // `state`: of the cluster, with the usage of its workloads; without one Begin builds it. Adds to
  // `notes` what is not looked at. All that is referred to outlives the judge.
  SliceJudge(Cluster& cluster, std::optional<ClusterState> state, const ClusterLookup& lookup,
             LeafPaths& paths, const Engine& engine, ResizeProfile profile,
             std::vector<std::string>& notes);

  // Takes the usage of a slice that ends out of a state that was built before.
  void Forget(const Workload& ended);

  // Begins with the current slice, which has an admission and outlives the judge. What is judged
  // later sees its changes. Errors: those of ClusterState::Build.
  Result<void> Begin(const Workload& current);

  // Counts the pods of the current slice once from here on, as previous assignments alone: takes
  // the usage that it had at the beginning out of the state.
  void CountHeldOnce();

  // Says why a workload is not in its queue, whatever the time; nullopt when it is.
  std::optional<std::string> WhyNoHead(const Workload& workload) const;

  // Judges a slice whose new pods have to stay near the old ones: in the domains that profile
  // `espalier` tries one after the other; profile `kueue` knows none (R20.3).
  Nomination JudgeNear(const Workload& slice);

  // Calls CountHeldOnce, and returns whether the slice fits then, wherever that is; false at once
  // where the current slice held no room.
  bool FitsWithHeldOnce(const Workload& slice);

  // Returns the ClusterQueue that the current slice is admitted in or, where that is not in the
  // cluster, one that offers the flavors it has, without a quota.
  const ClusterQueue& Queue();

  // Counts the quota that the current slice uses by now in place of `before`.
  void FollowQuota(const QuotaUsage& before);

 private:
  void SetState(ClusterState state);
  Nomination Judge(const Workload& slice);
  std::optional<std::string> WhyQueueIsStopped(const Workload& slice) const;

  Cluster& cluster_;
  const ClusterLookup& lookup_;
  LeafPaths& paths_;
  const Engine& engine_;
  const ResizeProfile profile_;
  std::vector<std::string>& notes_;
  const Workload* current_ = nullptr;
  std::optional<Quota> quota_;  // of its ClusterQueue
  std::optional<ClusterQueue> stand_in_queue_;
  std::optional<CycleState> state_;
  std::vector<FlavorLeafUsage> held_;  // by the current slice at the beginning
  RequestRules rules_;
};

}  // namespace espalier
