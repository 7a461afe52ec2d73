// Requests for nested gangs, and their answers: groups inside groups, each with a topology request
// of its own (section 25, docs/nested-gangs.md). Plain values without a wire or file format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/rank_placement.hpp"
#include "host/model/resources.hpp"
#include "host/model/topology.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Pods of one shape: an equivalence group.
struct NestedPodSet {
  Resources requests;        // per pod, canonical, without the pod slot
  PodTemplate pod_template;  // node selector, tolerations, required node affinity
  std::int32_t min_count = 0;
  std::int32_t max_count = 0;  // at least min_count
  // The position among the pod sets of the WorkloadRequest that these are pods of; -1: none.
  std::int32_t pod_set = -1;

  bool operator==(const NestedPodSet&) const = default;
};

// A group of the tree: a workload, replica, gang group or ranked group, or, with `pods`, an
// equivalence group.
struct NestedGroup {
  // Not empty, unique among the children of a group, without '/' and '[', which paths consist of.
  std::string name;
  // Copies in each copy of the parent. The first `min_copies` are placed together with it or not at
  // all; each other one is placed as a whole where there is room (R25.3).
  std::int32_t copies = 1;
  std::int32_t min_copies = 1;
  std::optional<std::string> required;   // level key
  std::optional<std::string> preferred;  // level key, not above the required level
  // True where children that are not required are placed in order, and none after the first that is
  // not placed (R25.8).
  bool in_order = false;
  // Minimum of its children that are placed with it, whichever these are (R25.16); 0: all.
  std::int32_t min_groups = 0;
  // True where each copy has a domain of the required level to itself, among the copies of all such
  // groups beside it (R25.17). Needs a required level.
  bool apart = false;
  RankPlacement ranks = RankPlacement::kByPath;
  std::optional<std::string> rank_level;  // level key; only with kTogether, kBalanced, kStriped
  // Leaves that its domain must contain (R25.12), by their ids (R4.1) or by the values of all
  // levels, joined by commas, which tell the domains of a node that takes no part too.
  std::vector<std::string> running_on;
  std::vector<NestedGroup> groups;   // children in declared order; ranks run through them
  std::optional<NestedPodSet> pods;  // instead of children

  bool operator==(const NestedGroup&) const = default;
};

// The rules that decide (section 25).
enum class NestedProfile {
  kEspalier,
  kKep5732,  // R25.13
};

// One workload on one flavor.
struct NestedRequest {
  ObjectKey key;  // for messages only
  std::string flavor;
  NestedGroup root;             // one copy
  bool simulate_empty = false;  // ignore usage of admitted workloads; nothing is booked
  NestedProfile profile = NestedProfile::kEspalier;

  bool operator==(const NestedRequest&) const = default;
};

enum class NestedStatus {
  kPlaced,        // whole
  kPlacedInPart,  // all that is required, but not all that is allowed
  kNotNow,        // what is required would fit if the nodes were empty
  kNever,         // no empty cluster of these nodes could hold what is required (R25.14)
  kUndecided,     // the search ended at its bound (R25.7)
  kBadRequest,    // `reason` says what is wrong with it
};

// Returns the status in a form for scripts: "Placed", "PlacedInPart", "NotNow", "Never",
// "Undecided" or "BadRequest".
std::string_view Name(NestedStatus status);

// Returns whether what is required was placed.
inline bool IsPlaced(NestedStatus status) {
  return status == NestedStatus::kPlaced || status == NestedStatus::kPlacedInPart;
}

// The answer for a copy of a group. `path` names it from below the root, such as
// "replica[2]/workers", with an index when there is more than one copy; it is empty for the root.
struct NestedGroupAnswer {
  std::string path;
  NestedStatus status = NestedStatus::kNotNow;
  // Key of the level of the domain that holds its pods; none: anywhere, or it has no pods.
  std::optional<std::string> level;
  std::vector<std::string> values;  // of that domain, coarsest first
  // The assignment of a pod set with pods placed: the domains in the order of their ranks, in which
  // one leaf may come again; without ranks in path order.
  std::optional<TopologyAssignment> assignment;

  bool operator==(const NestedGroupAnswer&) const = default;
};

struct NestedAnswer {
  NestedStatus status = NestedStatus::kNotNow;
  std::string reason;  // why not all of it is placed; a sentence without a period
  // Every copy of every group in declared order, parents first; nothing inside of one that is not
  // placed.
  std::vector<NestedGroupAnswer> groups;

  bool operator==(const NestedAnswer&) const = default;
};

// Returns the group that the path of an answer names, or null when there is none.
const NestedGroup* GroupAt(const NestedGroup& root, std::string_view path);

// Returns whether any pod of a group is required, of the group or of a copy that is placed as a
// whole (R25.3). Where none is, each pod is placed on its own account.
bool RequiresPods(const NestedGroup& group);

// Returns the pods of a group with all its copies, and all that each of them may have; the largest
// number where there are more. Counts that are negative, as in a bad request, count as none.
std::int64_t MostPods(const NestedGroup& group);

}  // namespace espalier
