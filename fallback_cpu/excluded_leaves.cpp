#include "fallback_cpu/excluded_leaves.hpp"

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

const std::vector<std::int64_t>& ExcludedLeaves::Count(const PlacementJob& job) {
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
      Find(reasons, {snapshot.GroupLeaves(first).begin, snapshot.GroupLeaves(stale_[i - 1]).end});
    }
  } else {
    filter_ = job.filter;
    reasons_.assign(static_cast<std::size_t>(snapshot.leaf_count()), -1);
    excluded_.assign(job.shape->workers.names.size(), 0);
    Find(reasons, {0, snapshot.leaf_count()});
  }
  counted_ = CapacityVersion::Of(job);
  return excluded_;
}

void ExcludedLeaves::Find(const LeafReasons& reasons, DomainRange leaves) {
  constexpr std::int32_t kRun = SimdImplementation::kReadAhead;
  const LeafInput& input = reasons.input();
  const std::int32_t whole_runs = (leaves.size() + kRun - 1) / kRun * kRun;
  found_.resize(static_cast<std::size_t>(whole_runs));
  ActiveSimdImplementation().find_reasons(
      input.workers, {input.capacity.amounts + leaves.begin, input.capacity.stride}, whole_runs,
      found_.data());
  for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
    const std::int16_t found = found_[static_cast<std::size_t>(leaf - leaves.begin)];
    const std::int16_t now = Matches(input, leaf) ? found : std::int16_t{-1};
    std::int16_t& before = reasons_[static_cast<std::size_t>(leaf)];
    if (before == now) continue;
    if (before >= 0) --excluded_[static_cast<std::size_t>(before)];
    if (now >= 0) ++excluded_[static_cast<std::size_t>(now)];
    before = now;
  }
}

}  // namespace espalier
