// Plain views of nested gangs (section 25): the tree of one request, flat, and the capacity and
// counts that its decision changes as it places pods.
#pragma once

#include <cstdint>

#include "kernels/decisions/changed_leaves.hpp"
#include "kernels/decisions/fits.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/macros.hpp"
#include "kernels/views.hpp"

namespace espalier {

// For texts that are called from many places: a kernel with a copy for each takes minutes to
// compile.
#define ESPALIER_OUT_OF_LINE __attribute__((noinline))

inline constexpr std::int32_t kNoLevel = -1;  // the whole cluster, or no level asked for

// One shape of a request and how many of its pods fit where.
struct NestedShape {
  RequestView request;
  const std::uint64_t* matches = nullptr;  // bitmap over leaves; null: every leaf (R7.1)
  StoredCount* pods = nullptr;             // [domains]
  // Leaves whose counts are of an earlier capacity, ascending, each once.
  const std::int32_t* stale = nullptr;
  std::int32_t stale_count = 0;
};

// Capacity of the leaves, and the shapes of the request.
struct NestedSpace {
  TreeView tree;
  CapacityView capacity;  // before the request
  CapacityView total;     // the same without usage
  // By what is placed; a leaf has the row of the first take on it. No leaf has one at first.
  ChangedLeaves changed;
  const NestedShape* shapes = nullptr;
  std::int32_t shape_count = 0;
};

// The ways to place the ranks of a group; see RankPlacement in host/model/rank_placement.hpp.
enum class NestedRanks : std::int32_t { kByPath, kContiguous, kTogether, kDealt };

// A copy of a group of the tree. The steps of a request are in the order they are placed in: a
// group before what is in it.
struct NestedStep {
  std::int32_t parent = -1;
  std::int32_t end = 0;  // the first step behind the group's
  std::int32_t required = kNoLevel;
  std::int32_t preferred = kNoLevel;
  std::int32_t shape = -1;       // of a pod set; -1: a group
  std::int32_t main_shape = -1;  // of most of the pods in it (R25.4); -1: it has none
  std::int32_t needs_begin = 0;  // in NestedRun::needs
  std::int32_t needs_end = 0;
  std::int32_t copy = -1;   // R25.4: a step inside of whose copies not all are required; -1: none
  std::int32_t copies = 0;  // of that
  std::int32_t first_running = -1;  // leaves that its domain contains (R25.12); -1: any domain
  std::int32_t last_running = -1;
  NestedRanks ranks = NestedRanks::kByPath;
  std::int32_t rank_level = kNoLevel;
  std::int32_t rank_order_begin = 0;  // in NestedRun::rank_order: its pod sets, ranks ascending
  std::int32_t rank_order_end = 0;
  std::int32_t first_rank = 0;  // of a pod set below a group of kTogether: its first pod's
  bool optional = false;        // not needed for the parent to be placed
  bool apart = false;           // R25.17: no other such step beside it shares its domain
  bool in_order = false;        // R25.8
  Count min_pods = 0;           // of a pod set
  Count max_pods = 0;
};

// Pods of one shape in a group: what has to be placed, and what may be.
struct NestedNeed {
  std::int32_t shape = 0;
  Count min_pods = 0;
  Count max_pods = 0;
};

// Orders the domains of a level that hold a group: `first`, then `second` ascend, then the domain.
// The position of a domain is found again from its key.
struct NestedKey {
  Count first = 0;
  Count second = 0;
  std::int32_t domain = -1;
};

// The place of a step, and how far its alternatives were tried.
struct NestedChoice {
  std::int32_t level = kNoLevel;  // kNoLevel with domain -1: anywhere
  std::int32_t domain = -1;
  NestedKey key;        // of the domain, where it was chosen among those of a level
  bool tried = false;   // some alternative was
  bool stayed = false;  // in the domain of its parent: the last one
  bool placed = false;
  std::int32_t take_begin = 0;  // in the list of takes, when it came to be chosen
  std::int32_t from = -1;       // the step placed before it
};

enum class NestedOrder : std::int32_t {
  kTightestFit,    // R25.4
  kTightestShare,  // R25.13
};

enum class NestedOutcome : std::int32_t {
  kPlaced,      // what is required is
  kDoesNotFit,  // every alternative of the search was tried (R25.7)
  kOutOfTrials,
};

// One request and all memory that its decision writes.
struct NestedRun {
  NestedSpace space;
  const NestedStep* steps = nullptr;
  std::int32_t step_count = 0;
  const NestedNeed* needs = nullptr;
  std::int32_t need_count = 0;
  const std::int32_t* rank_order = nullptr;
  std::int32_t rank_order_count = 0;
  NestedOrder order = NestedOrder::kTightestFit;
  bool siblings = false;                 // a second search goes back to siblings too (R25.7)
  std::int32_t most_trials = 0;          // of the first search of a group
  std::int32_t most_sibling_trials = 0;  // of the second

  NestedChoice* choices = nullptr;    // [step_count]
  Share* takes = nullptr;             // [take_capacity] pods placed, by leaf; in the order of ranks
                                      // where a step has one
  std::int32_t* take_step = nullptr;  // [take_capacity] whose
  std::int32_t take_capacity = 0;
  Workspace workspace;
  // Returns whether somebody still waits for the decision, given `waiting`; null: somebody does.
  // Asked of one lane.
  bool (*waited_for)(void* waiting) = nullptr;
  void* waiting = nullptr;
};

// Returns whether to go on with a decision. Once it returns false, what is decided is meaningless.
inline bool GoesOn(const NestedRun& run) {
  return run.waited_for == nullptr || run.waited_for(run.waiting);
}

// The answer of a run; takes and choices hold the rest.
struct NestedResult {
  NestedOutcome outcome = NestedOutcome::kDoesNotFit;
  std::int32_t take_count = 0;
  std::int32_t stuck = -1;     // the last of the steps that had no place; -1: all had
  bool out_of_trials = false;  // some search ended at its bound
};

// Counts of one shape as the other decisions read them.
ESPALIER_HD inline CountsView CountsOf(const NestedShape& shape) {
  CountsView counts;
  counts.pods = counts.slices = counts.pods_with_leader = counts.slices_with_leader = shape.pods;
  return counts;
}

// Returns the rule of single pods on leaves.
ESPALIER_HD inline SliceRule PodSlices(const TreeView& tree) {
  SliceRule slice;
  slice.level = tree.lowest();
  return slice;
}

// Returns the domains of `level` inside a domain, which is kNoLevel and -1 for the whole cluster.
ESPALIER_HD inline DomainRange DomainsInside(const TreeView& tree, std::int32_t outer_level,
                                             std::int32_t outer, std::int32_t level) {
  if (outer_level == kNoLevel) return {tree.LevelBegin(level), tree.LevelEnd(level)};
  return Descendants(tree, {outer, outer + 1}, outer_level, level);
}

}  // namespace espalier
