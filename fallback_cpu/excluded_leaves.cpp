#include "fallback_cpu/excluded_leaves.hpp"

#include <algorithm>
#include <utility>

#include "fallback_cpu/simd_implementation.hpp"
#include "kernels/decisions/leaf_counts.hpp"

namespace espalier {

void AddByReason(const std::vector<std::int16_t>& reasons, const std::int32_t* times,
                 std::size_t count, std::span<std::int64_t> excluded) {
  ActiveSimdImplementation().add_by_reason(reasons.data(), times, static_cast<std::int32_t>(count),
                                           static_cast<std::int32_t>(excluded.size()),
                                           excluded.data());
}

void LeafReasons::Count(std::int32_t leaf, const Amount* assumed, std::int64_t times,
                        std::span<std::int64_t> excluded) const {
  const std::int32_t reason = FirstWithoutRoom(
      input_.workers, RemainingOnLeaf{input_.capacity, input_.workers, assumed, leaf});
  if (reason >= 0) excluded[static_cast<std::size_t>(reason)] += times;
}

void LeafReasons::CountAll(std::int32_t leaves, std::span<std::int64_t> excluded) const {
  for (std::int32_t leaf = 0; leaf < leaves; ++leaf) {
    if (Admits(input_, leaf)) Count(leaf, nullptr, 1, excluded);
  }
}

std::size_t ExcludedLeaves::MostBytes(const FlavorState& state) {
  return static_cast<std::size_t>(state.snapshot().leaf_count()) * sizeof(std::int16_t) + 1024;
}

void ExcludedLeaves::BeginWith(const ExcludedLeaves& of_parent, const PlacementJob& job) {
  if (of_parent.counted_.stamps == nullptr) return;
  auto counted = OnBranch(of_parent.counted_, job);
  if (!counted) return;
  filter_ = of_parent.filter_;
  reasons_ = of_parent.reasons_;
  excluded_ = of_parent.excluded_;
  counted_ = *std::move(counted);
}

const std::vector<std::int64_t>& ExcludedLeaves::Count(const PlacementJob& job,
                                                       const LeafCounter& counter) {
  const CapacityVersion before = std::exchange(counted_, {});
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const LeafReasons reasons(job);
  stale_.clear();
  if (before.stamps != nullptr && filter_ == job.filter &&
      AppendStale(before, job, nullptr, stale_)) {
    for (std::size_t i = 0; i < stale_.size();) {  // neighbours together
      const std::int32_t first = stale_[i];
      while (++i < stale_.size() && stale_[i] == stale_[i - 1] + 1) {
      }
      FindAgain(reasons, counter,
                {snapshot.GroupLeaves(first).begin, snapshot.GroupLeaves(stale_[i - 1]).end});
    }
  } else {
    filter_ = job.filter;
    excluded_.assign(job.shape->workers.names.size(), 0);
    Find(reasons, counter, {0, snapshot.leaf_count()}, reasons_);
    AddByReason(reasons_, nullptr, static_cast<std::size_t>(snapshot.leaf_count()), excluded_);
  }
  counted_ = CapacityVersion::Of(job);
  return excluded_;
}

// Writes the reasons of leaves to `found`, which gets as many more entries as fill a tile; the
// first leaf is the first of a tile.
void ExcludedLeaves::Find(const LeafReasons& reasons, const LeafCounter& counter,
                          DomainRange leaves, std::vector<std::int16_t>& found) {
  constexpr std::int32_t kTile = TiledCapacity::kTileLeaves;
  static_assert(kTile == SimdImplementation::kReadAhead);
  const LeafInput& input = reasons.input();
  const DomainRange tiles{leaves.begin / kTile, (leaves.end + kTile - 1) / kTile};
  found.resize(static_cast<std::size_t>(tiles.size()) * kTile);
  if (!counter.FindReasons(tiles, found.data())) {
    ActiveSimdImplementation().find_reasons(
        input.workers, {input.capacity.amounts + leaves.begin, input.capacity.stride},
        tiles.size() * kTile, found.data());
  }
  for (std::int32_t leaf = leaves.begin; input.matches != nullptr && leaf < leaves.end; ++leaf) {
    if (!Matches(input, leaf)) found[static_cast<std::size_t>(leaf - leaves.begin)] = -1;
  }
}

// Brings the reasons of leaves and the numbers up to date.
void ExcludedLeaves::FindAgain(const LeafReasons& reasons, const LeafCounter& counter,
                               DomainRange leaves) {
  constexpr std::int32_t kTile = TiledCapacity::kTileLeaves;
  const std::int32_t first = leaves.begin / kTile * kTile;
  Find(reasons, counter, {first, leaves.end}, found_);
  const std::int16_t* const found = found_.data() + (leaves.begin - first);
  std::int16_t* const before = reasons_.data() + leaves.begin;
  for (std::int32_t run = 0; run < leaves.size(); run += kTile) {
    const std::int32_t end = std::min(run + kTile, leaves.size());
    if (std::equal(before + run, before + end, found + run)) continue;  // as most are
    for (std::int32_t i = run; i < end; ++i) {
      if (before[i] >= 0) --excluded_[static_cast<std::size_t>(before[i])];
      if (found[i] >= 0) ++excluded_[static_cast<std::size_t>(found[i])];
      before[i] = found[i];
    }
  }
}

}  // namespace espalier
