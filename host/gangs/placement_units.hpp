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

// Returns whether pods that do not need each other, those of mode Off and replicas that are pods,
// are to share a domain. Flat requests have no way to say that as many as fit are placed there, so
// that it is a tree in every profile (W1.3, W1.6).
bool IsBestEffortInOneDomain(const GangWorkload& workload);

// Returns whether the workload is a gang that needs one of its pods, whichever it is, and may have
// more (W1.3, W4.2): it is a tree with every profile, as no pod of it waits for another.
bool NeedsOneOfSeveral(const GangWorkload& workload);

// The workloads that are placed as trees.
enum class Trees {
  kNone,    // those alone that flat requests cannot say: the two above, and running pods (R25.12)
  kNested,  // those for which IsNested holds
  kAll,     // all that do not wait for anything
};

// Returns whether all of a workload is placed as one tree: where `trees` says so, and always where
// pods of it that run say where the others go (R25.12).
bool IsTree(const GangWorkload& workload, Trees trees);

// Returns the unit of all gangs that can be placed, as a tree, and one that is refused for each
// gang that waits. None for gangs of which all pods run. Adds notes on what trees cannot express.
std::vector<Workload> TreeUnits(GangWorkload& workload);

// Returns all of a workload as one unit that is placed as a tree: its pod sets are the equivalence
// groups in order, with the pods of all copies, and its tree is the workload. Where it needs one of
// its pods, partial admission may do with that (R21.11). Adds notes on what trees cannot express.
Workload TreeUnit(GangWorkload& workload);

// Adds to what is not honoured of a unit the pods of flat requests for slices that are behind the
// last whole slice: Kueue counts the workload as placed without them (R6.9).
void SayWhatSlicesLeaveOut(Workload& unit);

// Returns how many units PlacementUnits would return, so that their memory can be bounded first.
std::int64_t CountUnits(const GangWorkload& workload);

}  // namespace espalier
