// Plain views the decisions work on. Every view is trivially copyable, owns nothing and may point
// to host or device memory.
#pragma once

#include <cstdint>

#include "kernels/ids.hpp"
#include "kernels/macros.hpp"

namespace espalier {

inline constexpr std::int32_t kMaxLevels = 16;               // R1.1
inline constexpr std::int32_t kMaxSliceLayers = kMaxLevels;  // each layer lies below the last

// Pods, slices or leaders. Leaf counts fit 31 bits (R5.9); 64 bits keep every sum exact.
using Count = std::int64_t;
using Amount = std::int64_t;  // of one resource, canonical unit (R1.8)

// A count as it is kept per domain. A sum past 31 bits, which no real pod capacity reaches, stays
// at the limit (R1.6).
using StoredCount = std::int32_t;

inline constexpr StoredCount kMaxStored = 2147483647;

ESPALIER_HD constexpr StoredCount Store(Count count) {
  return count < kMaxStored ? static_cast<StoredCount>(count) : kMaxStored;
}

// The topology tree, flat. Domains are numbered level by level, coarsest first, in path order
// within a level (R9.1), so comparing ids of one level compares paths, and children are contiguous.
struct TreeView {
  std::int32_t level_count = 0;               // 1 to kMaxLevels
  const std::int32_t* level_begin = nullptr;  // [level_count + 1] first domain of each level
  const std::int32_t* parent = nullptr;       // [domains] -1 for roots
  const std::int32_t* child_begin = nullptr;  // [inner domains + 1] see ChildBegin

  ESPALIER_HD std::int32_t lowest() const { return level_count - 1; }
  ESPALIER_HD std::int32_t domain_count() const { return level_begin[level_count]; }
  ESPALIER_HD std::int32_t leaf_count() const { return LevelEnd(lowest()) - LevelBegin(lowest()); }
  ESPALIER_HD std::int32_t LevelBegin(std::int32_t level) const { return level_begin[level]; }
  ESPALIER_HD std::int32_t LevelEnd(std::int32_t level) const { return level_begin[level + 1]; }
  // Returns where the children of a domain begin: those of an inner domain d are the domains
  // [ChildBegin(d), ChildBegin(d + 1)). For a run of domains [a, b) of one level the children are
  // [ChildBegin(a), ChildBegin(b)).
  ESPALIER_HD std::int32_t ChildBegin(std::int32_t domain) const { return child_begin[domain]; }
};

// A half-open run of domains of one level.
struct DomainRange {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  ESPALIER_HD std::int32_t size() const { return end - begin; }
};

// Returns the domains of a level.
ESPALIER_HD inline DomainRange DomainsOf(const TreeView& tree, std::int32_t level) {
  return {tree.LevelBegin(level), tree.LevelEnd(level)};
}

// Returns the descendants at `to` of the run `range` of level `from` (from <= to).
ESPALIER_HD inline DomainRange Descendants(const TreeView& tree, DomainRange range,
                                           std::int32_t from, std::int32_t to) {
  for (std::int32_t level = from; level < to; ++level) {
    range = {tree.ChildBegin(range.begin), tree.ChildBegin(range.end)};
  }
  return range;
}

// Returns the children of a domain that is not at the lowest level.
ESPALIER_HD inline DomainRange ChildrenOf(const TreeView& tree, std::int32_t domain) {
  return {tree.ChildBegin(domain), tree.ChildBegin(domain + 1)};
}

// Returns the leaves below a run of domains of `level`, numbered from 0.
ESPALIER_HD inline DomainRange LeavesBelow(const TreeView& tree, DomainRange domains,
                                           std::int32_t level) {
  const DomainRange lowest = Descendants(tree, domains, level, tree.lowest());
  const std::int32_t first = tree.LevelBegin(tree.lowest());
  return {lowest.begin - first, lowest.end - first};
}

inline constexpr std::int16_t kNotExcluded = -1;    // has room, or fails the node filter
inline constexpr std::int16_t kOutsideDomain = -2;  // outside the replacement domain (R7.10)

struct LevelIndex;

// Rolled-up capacity per domain for one shape (section 8), indexed by domain id. Arrays that must
// hold the same values may be the same memory: the two `_with_leader` ones and their plain twins
// without a leader (R8.5), slices and pods where a slice is one pod on one leaf. `leaders` is null
// without a leader, `affinity` without preferred affinity.
struct CountsView {
  StoredCount* pods = nullptr;                // P
  StoredCount* slices = nullptr;              // U
  StoredCount* pods_with_leader = nullptr;    // PW
  StoredCount* slices_with_leader = nullptr;  // UW
  std::uint8_t* leaders = nullptr;            // LD, 0 or 1
  const std::int64_t* affinity = nullptr;     // AF
  // Of each level above the leaves (level_index.hpp); null with a leader, and where it is not kept.
  LevelIndex* index = nullptr;

  ESPALIER_HD Count Leaders(std::int32_t domain) const { return leaders ? leaders[domain] : 0; }
  ESPALIER_HD std::int64_t Affinity(std::int32_t domain) const {
    return affinity ? affinity[domain] : 0;
  }
  // Returns whether domains hold pods and nothing else: no leader, and a slice is a pod.
  ESPALIER_HD bool IsPlainPodCount() const { return leaders == nullptr && slices == pods; }
};

// The rule by which a shape's pods group into slices (R6.1, R6.2, R6.7).
struct SliceRule {
  std::int32_t level = 0;  // sl; the lowest level without slices
  Count size = 1;          // z
  // INNER: pods per inner group at a level, 0 where undefined (R6.7).
  Count inner_size[kMaxLevels] = {};
  // The constraints as given, coarsest first, for the multi-layer text (R18.6).
  std::int32_t layer_count = 0;
  std::int32_t layer_level[kMaxSliceLayers] = {};
  Count layer_size[kMaxSliceLayers] = {};

  ESPALIER_HD bool multi_layer() const { return layer_count > 1; }  // R6.8
  // Returns whether a slice is one pod on a leaf, so that slices and pods are the same number
  // everywhere. `leaves` is the level of the leaves.
  ESPALIER_HD bool IsOnePod(std::int32_t leaves) const {
    return size == 1 && level == leaves && !multi_layer();
  }
};

// One resolved request (section 6): what is to be placed where.
struct PlacementQuery {
  std::int32_t level = 0;  // rl
  SliceRule slice;
  Count pods = 0;              // N, workers
  Count leaders = 0;           // nl, 0 or 1
  bool required = false;       // REQ
  bool unconstrained = false;  // UNC
  bool least_free = false;     // LFC instead of best-fit (R9.6)
  bool balanced = false;       // gate TASBalancedPlacement
  bool affinity = false;       // gate TASRespectNodeAffinityPreferred

  ESPALIER_HD Count slices() const { return pods / slice.size; }  // K
};

// A domain in a list that is being ordered and consumed, with the capacity it offers.
struct Candidate {
  std::int32_t domain = -1;
  std::int32_t leaders = 0;      // LD
  Count pods = 0;                // P
  Count slices = 0;              // U
  Count pods_with_leader = 0;    // PW
  Count slices_with_leader = 0;  // UW
  std::int64_t affinity = 0;     // AF

  ESPALIER_HD bool none() const { return domain < 0; }
};

ESPALIER_HD inline Candidate MakeCandidate(const CountsView& counts, std::int32_t domain) {
  Candidate c;
  c.domain = domain;
  c.leaders = static_cast<std::int32_t>(counts.Leaders(domain));
  c.pods = counts.pods[domain];
  c.slices = counts.slices[domain];
  c.pods_with_leader = counts.pods_with_leader[domain];
  c.slices_with_leader = counts.slices_with_leader[domain];
  c.affinity = counts.Affinity(domain);
  return c;
}

// The share that TAKE gave a domain: from then on P and LD mean "assigned here" (R12.1).
struct Share {
  std::int32_t domain = -1;
  std::int32_t leaders = 0;
  Count pods = 0;
};

// The unit in which a TAKE or a tight fit counts (R9.5).
enum class Unit { kPods, kSlices };

ESPALIER_HD inline Count Capacity(const Candidate& c, Unit unit, bool with_leader) {
  if (unit == Unit::kSlices) return with_leader ? c.slices_with_leader : c.slices;
  return with_leader ? c.pods_with_leader : c.pods;
}

// The ways in which an evaluation ends.
enum class PlacementStatus : std::int32_t {
  kPlaced,       // `shares` lists what each leaf got; possibly nothing (R6.9)
  kNoDomains,    // the level has no domain (R10.1)
  kDoesNotFit,   // fit of total (R18.4)
  kUndefined,    // upstream divides by zero (R14.6)
  kOutOfStates,  // workspace.states is too small; run again with more
};

// The result of the evaluation of a query, apart from the shares.
struct PlacementOutcome {
  PlacementStatus status = PlacementStatus::kDoesNotFit;
  std::int32_t level = 0;                  // where the search ended
  Count fit = 0;                           // slices
  Count total = 0;                         // slices
  Count layer_fits[kMaxSliceLayers] = {};  // slices per constraint layer when it does not fit
};

}  // namespace espalier
