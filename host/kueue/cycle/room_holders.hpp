// Finds who holds room that a workload might have: admitted workloads of any ClusterQueue, and pods
// that Kueue does not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/kueue/cycle/preemption.hpp"
#include "host/kueue/cycle/quota.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/cluster.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/what_if/victim.hpp"

namespace espalier {

struct RoomHolder {
  Victim victim;  // with its usage on each flavor that sees it
  ObjectKey key;
  std::int64_t priority = 0;
  std::string cluster_queue;  // empty: a pod that no topology-aware workload owns
  VictimSlices slices;        // of the job; empty for a pod
};

// The holders of room, and the pods among them as usage of leaves, so that each holder can be taken
// out of every flavor alike.
struct RoomHolders {
  std::vector<RoomHolder> holders;              // by priority, then name
  std::vector<NodeUsage> pods_on_nodes;         // what the pods use, by node
  std::vector<FlavorLeafUsage> pods_on_leaves;  // the same as that of an admitted workload
  std::size_t pods_elsewhere = 0;  // pods that might go, but are on no node of a flavor
};

struct RoomHolderOptions {
  PreemptionPolicy policy = PreemptionPolicy::kAny;  // of workloads, in whatever queue
  std::int64_t pods_below = 0;  // pods of a lower priority than this; those that never end stay
};

// Returns the jobs but for that of `workload` that the policy lets go, and pods outside of Kueue.
RoomHolders FindRoomHolders(const Cluster& cluster, const Workload& workload,
                            const RoomHolderOptions& options, const FeatureGates& gates);

// Tells which of Kueue's rules would have holders preempted for a workload on the flavors of one
// request. Borrowing by the workload's own queue (borrowWithinCohort), hierarchical cohorts and
// fair sharing are not looked at.
class PreemptionRules {
 public:
  // All outlive this. `queue`: the workload's ClusterQueue.
  PreemptionRules(const Cluster& cluster, const Workload& workload, const WorkloadRequest& request,
                  const ClusterQueue& queue);

  // Returns the rules by which all of them would be, as "withinClusterQueue LowerPriority", each
  // once; or why not, after "no: ".
  std::string RulesFor(std::span<const RoomHolder* const> holders) const;

 private:
  std::string RuleFor(const RoomHolder& holder, std::map<std::string, Quota>& quotas) const;
  // Returns whether the queue uses more than its nominal quota of anything that is asked for.
  bool Borrows(const std::string& queue, const std::map<std::string, Quota>& quotas) const;
  bool FitsNominal() const;

  const Cluster& cluster_;
  ClusterLookup lookup_;
  const Workload& workload_;
  const ClusterQueue& queue_;
  QuotaUsage asked_;
  std::map<std::string, Quota> quotas_;  // by ClusterQueue, with what is in use
};

}  // namespace espalier
