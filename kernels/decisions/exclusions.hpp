// Statistics of a failure: what rules leaves out (R18.5, R18.7) and how far each slice layer gets
// (R18.6).
#pragma once

#include <cstdint>

#include "kernels/atomics.hpp"
#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/leader_first.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/orders.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Leaves by what rules them out, counted once per evaluation; those that fail the node filter are
// counted with the filter.
struct ExclusionView {
  std::int64_t* limited_by = nullptr;      // [resources] leaves without room, by worker resource
  std::int64_t* outside_domain = nullptr;  // [1] leaves outside the replacement domain
  std::int32_t resources = 0;
};

// Sets all numbers to 0.
ESPALIER_HD inline void Clear(const ExclusionView& out) {
  for (std::int32_t i = 0; i < out.resources; ++i) out.limited_by[i] = 0;
  *out.outside_domain = 0;
}

// Adds what excludes a run of leaves. Other teams may add other leaves at the same time.
template <class Team>
ESPALIER_HD void CountExclusions(Team& team, const LeafInput& input, DomainRange leaves,
                                 const ExclusionView& out) {
  constexpr std::int32_t kSummed = 16;           // kinds that each lane sums up; others are rare
  const std::int32_t kinds = 1 + out.resources;  // the first is outside the domain
  const auto number = [&out](std::int32_t kind) -> std::int64_t& {
    return kind == 0 ? *out.outside_domain : out.limited_by[kind - 1];
  };
  std::int32_t mine[kSummed] = {};
  for (std::int32_t leaf = leaves.begin + team.rank(); leaf < leaves.end; leaf += team.size()) {
    const std::int32_t excluded = ExclusionOf(input, leaf);
    if (excluded == kNotExcluded) continue;
    const std::int32_t kind = excluded == kOutsideDomain ? 0 : 1 + excluded;
    if (kind >= kSummed) AddTo(number(kind), 1);
    for (std::int32_t k = 0; k < kSummed; ++k) mine[k] += kind == k ? 1 : 0;
  }
  for (std::int32_t k = 0; k < kSummed; ++k) {
    if (k >= kinds) continue;
    const Count total = team.reduce(Count{mine[k]}, Count{0}, PlusCount{});
    if (total > 0 && team.rank() == 0) AddTo(number(k), total);
  }
}

// Most slices, then the smallest path (R18.6).
struct MostSlices {
  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.none() || b.none()) return !a.none() && b.none();
    if (a.slices != b.slices) return a.slices > b.slices;
    return a.domain < b.domain;
  }
};

// Counts the slices of each constraint layer that fit in the best domain of the failing level;
// `fits` has slice.layer_count entries (`counts` holds the failing level, `source` what lies below)
// and belongs to the lane, which gets the same answer as every other.
template <class Team, class Source>
ESPALIER_HD void CountLayerFits(Team& team, const TreeView& tree, const CountsView& counts,
                                const Source& source, const SliceRule& slice, std::int32_t level,
                                Count* fits) {
  if (slice.layer_count == 0) return;
  Candidate best;
  for (std::int32_t d = tree.LevelBegin(level) + team.rank(); d < tree.LevelEnd(level);
       d += team.size()) {
    const Candidate candidate = MakeCandidate(counts, d);
    if (MostSlices{}(candidate, best)) best = candidate;
  }
  best = team.minimum(best, MostSlices{});
  for (std::int32_t layer = 0; layer < slice.layer_count; ++layer) {
    Count mine = 0;
    if (!best.none()) {
      const DomainRange domains =
          Descendants(tree, {best.domain, best.domain + 1}, level, slice.layer_level[layer]);
      const CountsView& of_layer = source.Of(team, slice.layer_level[layer], domains);
      for (std::int32_t d = domains.begin + team.rank(); d < domains.end; d += team.size()) {
        mine += of_layer.pods[d] / slice.layer_size[layer];
      }
    }
    fits[layer] = team.reduce(mine, Count{0}, PlusCount{});
  }
}

}  // namespace espalier
