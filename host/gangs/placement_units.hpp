// Splits a gang workload into the units that are placed, each as a whole.
#pragma once

#include <cstddef>
#include <vector>

#include "host/gangs/gang_workload.hpp"

namespace espalier {

// Returns a Workload for each part that is placed on its own: every replica, every gang group and
// every pod of a group that is no gang, in start order; or a single one when gang groups are placed
// together. A unit that cannot be placed has a refusal and no pod sets; a workload without pods is
// one without pod sets. Adds notes to the workload for each of its requests that these units cannot
// express.
std::vector<Workload> PlacementUnits(GangWorkload& workload);

// Returns whether the workload requests more than Kueue's flat requests can express for its units:
// requests at several levels, several gangs or replicas of one workload, more pods than a gang
// needs, ranks over several equivalence groups.
bool IsNested(const GangWorkload& workload);

// The workloads that are placed as trees.
enum class Trees {
  kNone,
  kNested,  // those for which IsNested holds
  kAll,     // all that do not wait for anything
};

// A unit that stands for all of a gang workload, as indices into the lists of both.
struct TreeIndex {
  std::size_t unit = 0;
  std::size_t workload = 0;
};

// Returns all of a workload as one unit that is placed as a tree: its pod sets are the equivalence
// groups in order, with the pods of all copies. Adds notes on what trees cannot express.
Workload TreeUnit(GangWorkload& workload);

// Returns how many units PlacementUnits would return, so that their memory can be bounded first.
std::int64_t CountUnits(const GangWorkload& workload);

}  // namespace espalier
