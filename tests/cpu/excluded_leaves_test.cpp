// What excludes leaves on states that change, and on their branches.
#include "fallback_cpu/excluded_leaves.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include <gtest/gtest.h>

#include "tests/cpu/state_walk.hpp"

namespace espalier::excluded_leaves_test {
namespace {

TEST(ExcludedLeaves, R18_7_FollowEveryStateAndFilter) {
  constexpr Amount kGpus = 999'998;  // some changes later fewer remain
  ExcludedCache cache(std::size_t{1} << 20);
  std::int64_t most = 0;
  WalkStates(4, kGpus, [&](const PlacementJob& job) {
    const auto entry = cache.Get(job, job.shape, ExcludedLeaves::MostBytes(*job.state));
    const std::lock_guard lock(entry->mutex);
    entry->BeginWithParent(job);
    std::vector<std::int64_t> leaf_by_leaf(job.shape->workers.names.size(), 0);
    LeafReasons(job).CountAll(job.state->snapshot().leaf_count(), leaf_by_leaf);
    ASSERT_EQ(entry->value.Count(job, LeafCounter(job)), leaf_by_leaf);
    for (const std::int64_t leaves : leaf_by_leaf) most = std::max(most, leaves);
  });
  EXPECT_GT(most, 50);
}

}  // namespace
}  // namespace espalier::excluded_leaves_test
