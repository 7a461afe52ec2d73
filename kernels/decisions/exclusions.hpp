// Statistics of a failure: what rules leaves out (R18.5, R18.7) and how far each slice layer gets
// (R18.6).
#pragma once

#include <cstdint>

#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/leader_first.hpp"
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

// Counts `exclusion` over all leaves, several kinds in a pass. The arrays are set, not added to.
template <class Team>
ESPALIER_HD void CountExclusions(Team& team, const std::int16_t* exclusion, std::int32_t leaves,
                                 const ExclusionView& out) {
  constexpr std::int32_t kOfPass = 8;
  const std::int32_t kinds = 1 + out.resources;  // the first is outside the domain
  for (std::int32_t base = 0; base < kinds; base += kOfPass) {
    std::int32_t mine[kOfPass] = {};
    for (std::int32_t leaf = team.rank(); leaf < leaves; leaf += team.size()) {
      const std::int32_t excluded = exclusion[leaf];
      if (excluded == kNotExcluded) continue;
      const std::int32_t kind = excluded == kOutsideDomain ? 0 : 1 + excluded;
      for (std::int32_t k = 0; k < kOfPass; ++k) mine[k] += kind == base + k ? 1 : 0;
    }
    for (std::int32_t k = 0; k < kOfPass && base + k < kinds; ++k) {
      const Count total = team.reduce(Count{mine[k]}, Count{0}, PlusCount{});
      const std::int32_t kind = base + k;
      if (team.rank() == 0) *(kind == 0 ? out.outside_domain : out.limited_by + kind - 1) = total;
    }
  }
  team.sync();
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
