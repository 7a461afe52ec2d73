// Computes how many pods of a gang must be placed, and how many may be.
#pragma once

#include <cstdint>
#include <vector>

#include "host/gangs/gang_workload.hpp"

namespace espalier {

// Returns whether a topology request is by level: required, preferred, unconstrained or slices.
bool AsksForLevels(const GroupTopologyRequest& request);

// Returns whether a request holds pods together: by a level or by slices.
bool Binds(const GroupTopologyRequest& request);

// Returns whether a request has slices, of one level or of several.
bool HasSlices(const TopologyRequest& request);

// Returns how many copies of its gang a workload is of: its replicas, where each is a gang, else 1.
std::int32_t CopiesOfGang(const GangWorkload& workload);

// Returns a middle group of a gang by its position.
const MiddleGroup& Middle(const GangGroup& gang, std::int32_t position);

// Returns whether `within`, the position of a middle group or -1, is `middle` or inside of it.
bool IsWithin(const GangGroup& gang, std::int32_t within, std::int32_t middle);

// Returns the topology requests that bind pods, innermost first: of the equivalence group, where
// one is given, of the ranked group, of the middle groups around it, of the gang and of the
// workload.
std::vector<const GroupTopologyRequest*> RequestsAround(const GangWorkload& workload,
                                                        const GangGroup& gang,
                                                        const RankedGroup& ranked,
                                                        const EqGroup* group);

// Returns the equivalence groups of a gang, in order.
std::vector<const EqGroup*> GroupsOf(const GangGroup& gang);

// Returns whether each pod of the gang is placed on its own account: in mode Off, and where every
// replica is a pod (W1.2, W1.3). Never of a workload that is placed as a whole.
bool IsBestEffort(const GangWorkload& workload, const GangGroup& gang);

// Returns how many pods of the group, or of the gang, run already.
std::int64_t RunningPodsOf(const EqGroup& group);
std::int64_t RunningPodsOf(const GangGroup& gang);

// Sorts the group's running pods by node, each node once.
void MergeRunning(EqGroup& group);

// Returns whether pods of the gang run, and so many that it needs no others: the rest is best
// effort (W1.3).
bool RunsEnough(const GangGroup& gang);

// Returns whether pods of the gang run and no others are to be placed.
bool RunsWhole(const GangWorkload& workload, const GangGroup& gang);

// Returns how many pods of each equivalence group of a gang are placed when no tree is: the minimum
// of each group, then more in order until the gang has its own minimum, or all that may be added
// where it runs already; without those that run, and never above a maximum.
std::vector<std::int32_t> CountsOf(const GangWorkload& workload, const GangGroup& gang);

// Returns the sum of counts.
std::int64_t TotalOf(const std::vector<std::int32_t>& counts);

struct PodCounts {
  std::int32_t required = 0;
  std::int32_t most = 0;  // at least as many
  bool operator==(const PodCounts&) const = default;
};

// Returns for each equivalence group of a gang how many pods are required beside those that run,
// and how many may be added: up to its maximum, that of the gang, and the number of pods. When the
// workload is placed as a whole all pods are required, in a group that is no gang none.
std::vector<PodCounts> PodCountsOf(const GangWorkload& workload, const GangGroup& gang);

}  // namespace espalier
