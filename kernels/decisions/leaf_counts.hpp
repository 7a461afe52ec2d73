// Leaf matching and leaf counts (R7.10, R7.11) and the leaf's slices (R8.1).
#pragma once

#include <cstdint>

#include "kernels/decisions/fits.hpp"
#include "kernels/saturating.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Usage assumed on a few leaves during one evaluation (R5.8). Leaves ascend; amounts are by column.
struct AssumedView {
  std::int32_t size = 0;
  const std::int32_t* leaf = nullptr;  // [size]
  const Amount* amount = nullptr;      // [size * columns]
  std::int32_t columns = 0;

  // Returns the amounts assumed on a leaf, or null.
  ESPALIER_HD const Amount* Find(std::int32_t wanted) const {
    std::int32_t low = 0;
    std::int32_t high = size;
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (leaf[middle] < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < size && leaf[low] == wanted ? amount + static_cast<std::int64_t>(low) * columns
                                             : nullptr;
  }
};

// The input that leaf counts are computed from. Resources of the leader that the workers do not
// request only decide whether the leader fits.
struct LeafInput {
  CapacityView capacity;
  AssumedView assumed;
  RequestView workers;
  RequestView leader;                         // size 0: no leader
  const Amount* leader_on_workers = nullptr;  // [workers.size] what a leader takes of each resource
  const std::uint64_t* matches = nullptr;     // bitmap over leaves; null: every leaf (R7.1)
  DomainRange domain;                         // leaves inside the replacement domain (R7.10)
};

ESPALIER_HD inline bool Matches(const LeafInput& input, std::int32_t leaf) {
  return input.matches == nullptr || ((input.matches[leaf >> 6] >> (leaf & 63)) & 1) != 0;
}

// Remaining capacity of one leaf for entry i of a request: ledger minus assumed usage (R5.1).
struct RemainingOnLeaf {
  const CapacityView& capacity;
  const RequestView& request;
  const Amount* assumed;
  std::int32_t leaf;

  ESPALIER_HD Amount operator()(std::int32_t i) const {
    const std::int32_t column = request.column[i];
    if (column < 0) return 0;
    const Amount amount = capacity.At(column, leaf);
    return assumed == nullptr ? amount : SaturatingDifference(amount, assumed[column]);
  }
};

struct LeafCounts {
  Count pods = 0;              // P
  Count pods_with_leader = 0;  // PW
  std::int32_t leaders = 0;    // LD
  std::int32_t limiting = -1;  // resource that makes P zero (R5.10)
};

// Returns the counts of a leaf that matches and lies inside the replacement domain (R7.11).
ESPALIER_HD inline LeafCounts CountLeaf(const LeafInput& input, std::int32_t leaf) {
  const Amount* assumed = input.assumed.size > 0 ? input.assumed.Find(leaf) : nullptr;
  const RemainingOnLeaf workers{input.capacity, input.workers, assumed, leaf};
  const Fit fit = FitAll(input.workers, workers);
  LeafCounts counts{fit.count, fit.count, 0, fit.limiting};
  if (input.leader.size == 0) return counts;
  const RemainingOnLeaf leader{input.capacity, input.leader, assumed, leaf};
  if (FitAll(input.leader, leader).count < 1) return counts;
  counts.leaders = 1;
  counts.pods_with_leader = FitAll(input.workers, [&](std::int32_t i) {
                              return SaturatingDifference(workers(i), input.leader_on_workers[i]);
                            }).count;
  return counts;
}

ESPALIER_HD inline bool InsideDomain(const LeafInput& input, std::int32_t leaf) {
  return leaf >= input.domain.begin && leaf < input.domain.end;
}

// Returns whether the counts of a leaf are looked at: it matches and lies inside the domain.
ESPALIER_HD inline bool Admits(const LeafInput& input, std::int32_t leaf) {
  return Matches(input, leaf) && InsideDomain(input, leaf);
}

// Returns what keeps a leaf from holding one pod: a worker resource, or one of kNotExcluded and
// kOutsideDomain (R18.7).
ESPALIER_HD inline std::int16_t ExclusionOf(const LeafInput& input, std::int32_t leaf) {
  if (!Matches(input, leaf)) return kNotExcluded;
  if (!InsideDomain(input, leaf)) return kOutsideDomain;
  const Amount* assumed = input.assumed.size > 0 ? input.assumed.Find(leaf) : nullptr;
  static_assert(kNotExcluded == -1, "what FirstWithoutRoom returns where there is room");
  return static_cast<std::int16_t>(FirstWithoutRoom(
      input.workers, RemainingOnLeaf{input.capacity, input.workers, assumed, leaf}));
}

// Returns the counts of any leaf; one that is not admitted has zeros (R7.12).
ESPALIER_HD inline LeafCounts CountAnyLeaf(const LeafInput& input, std::int32_t leaf) {
  return Admits(input, leaf) ? CountLeaf(input, leaf) : LeafCounts{};
}

// Writes the counts of a leaf at index `at` of `out`. Slices exist at the lowest level only when
// that is the slice level (R8.1): `sliced`.
ESPALIER_HD inline void StoreLeafCounts(const LeafCounts& counts, const SliceRule& slice,
                                        bool sliced, const CountsView& out, std::int32_t at) {
  out.pods[at] = Store(counts.pods);
  out.slices[at] = sliced ? Store(counts.pods / slice.size) : 0;
  if (out.leaders != nullptr) {
    out.leaders[at] = static_cast<std::uint8_t>(counts.leaders);
    out.pods_with_leader[at] = Store(counts.pods_with_leader);
    out.slices_with_leader[at] = sliced ? Store(counts.pods_with_leader / slice.size) : 0;
  }
}

// Writes the counts of leaf `leaf` under its domain id.
ESPALIER_HD inline void StoreLeaf(const TreeView& tree, const SliceRule& slice,
                                  const LeafInput& input, const CountsView& out,
                                  std::int32_t leaf) {
  StoreLeafCounts(CountAnyLeaf(input, leaf), slice, slice.level == tree.lowest(), out,
                  tree.LevelBegin(tree.lowest()) + leaf);
}

template <class Team>
ESPALIER_HD void CountLeaves(Team& team, const TreeView& tree, const SliceRule& slice,
                             const LeafInput& input, const CountsView& out) {
  for (std::int32_t leaf = team.rank(); leaf < tree.leaf_count(); leaf += team.size()) {
    StoreLeaf(tree, slice, input, out, leaf);
  }
  team.sync();
}

}  // namespace espalier
