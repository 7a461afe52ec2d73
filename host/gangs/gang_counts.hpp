// Computes how many pods of a gang must be placed, and how many may be.
#pragma once

#include <cstdint>
#include <vector>

#include "host/gangs/gang_workload.hpp"

namespace espalier {

// Returns whether a topology request is by level: required, preferred, unconstrained or slices.
bool AsksForLevels(const GroupTopologyRequest& request);

// Returns whether a request has slices, of one level or of several.
bool HasSlices(const TopologyRequest& request);

// Returns the equivalence groups of a gang, in order.
std::vector<const EqGroup*> GroupsOf(const GangGroup& gang);

// Returns how many pods of each equivalence group of a gang are placed together when only the
// minimum is placed: the minimum of each group, then more in order until the gang has its own
// minimum.
std::vector<std::int32_t> CountsOf(const GangGroup& gang);

struct PodCounts {
  std::int32_t required = 0;
  std::int32_t most = 0;  // at least as many
  bool operator==(const PodCounts&) const = default;
};

// Returns for each equivalence group of a gang how many pods are required, and how many there may
// be: up to its maximum, that of the gang, and the number of pods. When the workload is placed as a
// whole all pods are required, in a group that is no gang none.
std::vector<PodCounts> PodCountsOf(const GangWorkload& workload, const GangGroup& gang);

}  // namespace espalier
