// Classes of leaves on states that change, and on their branches.
#include "fallback_cpu/capacity_classes.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/branch_cache.hpp"
#include "tests/cpu/state_walk.hpp"

namespace espalier::capacity_classes_test {
namespace {

using Contents = std::map<std::vector<Amount>, std::int64_t>;  // leaves by what remains on them

Contents LeafByLeaf(const PlacementJob& job) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const auto& amounts = job.simulate_empty ? job.state->free() : job.state->remaining();
  Contents contents;
  for (std::int32_t leaf = 0; leaf < snapshot.leaf_count(); ++leaf) {
    if (job.filter != nullptr && !job.filter->matches.empty() &&
        (job.filter->matches[static_cast<std::size_t>(leaf / 64)] >> (leaf % 64) & 1) == 0) {
      continue;
    }
    std::vector<Amount> row;
    for (std::size_t column = 0; column < snapshot.resources().size(); ++column) {
      row.push_back(amounts[column * static_cast<std::size_t>(snapshot.stride()) +
                            static_cast<std::size_t>(leaf)]);
    }
    ++contents[row];
  }
  return contents;
}

Contents ByClass(const CapacityClasses& classes, const std::vector<std::int32_t>& leaves,
                 const FlavorSnapshot& snapshot) {
  Contents contents;
  for (std::int32_t c = 0; c < classes.count(); ++c) {
    const std::int32_t of_class = leaves[static_cast<std::size_t>(c)];
    if (of_class == 0) continue;
    const CapacityView amounts = classes.RemainingIn(c / CapacityClasses::kTile);
    std::vector<Amount> row;
    for (std::size_t column = 0; column < snapshot.resources().size(); ++column) {
      row.push_back(amounts.At(static_cast<std::int32_t>(column), c % CapacityClasses::kTile));
    }
    std::int64_t& known = contents[row];
    EXPECT_EQ(known, 0) << "two classes of equal leaves";
    known = of_class;
  }
  return contents;
}

class CapacityClassesTest : public ::testing::Test {
 protected:
  void Expect(const PlacementJob& job) {
    const auto entry = cache_.Get(job, nullptr, CapacityClasses::MostBytes(*job.state));
    entry->BeginWithParent(job);
    CapacityClasses::Leaves leaves;
    while (leaves == nullptr) leaves = entry->value.LeavesOf(job);
    ASSERT_EQ(leaves->size(), static_cast<std::size_t>(entry->value.count()));
    ASSERT_EQ(ByClass(entry->value, *leaves, job.state->snapshot()), LeafByLeaf(job));
    most_classes_ = std::max(most_classes_, entry->value.count());
  }

  BranchCache<CapacityClasses> cache_{std::size_t{1} << 26};
  std::int32_t most_classes_ = 0;
};

// Filters come and go; states branch, change and end.
TEST_F(CapacityClassesTest, FollowEveryStateAndFilter) {
  WalkStates(3, 1, [&](const PlacementJob& job) { Expect(job); });
  EXPECT_GT(most_classes_, 100);
}

TEST_F(CapacityClassesTest, ThoseWithoutLeavesAreDropped) {
  ClusterState cluster = LabelledHosts();
  std::int64_t changes = 0;
  for (int round = 0; round < 40; ++round) {
    for (int host = 0; host < kHosts; ++host) {
      cluster.AddUsage({{"tas", fmt::format("h{:03}", host), {{"gpu", ++changes}}}});
    }
    Expect(JobOn(cluster, round % 3 - 1));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(changes, 10'000);
  EXPECT_LT(most_classes_, 2000);
}

// Where nearly every leaf is a class of its own, classes are not kept, on branches neither.
TEST(CapacityClasses, TooManyAreGivenUp) {
  constexpr int kDistinct = 4000;
  ClusterState cluster = BuildState(
      MakeRacks({.racks = kDistinct / 8, .hosts = 8, .has = {{"gpu", 1'000'000}}, .digits = 4}));
  CapacityClasses classes;
  const auto is_given_up = [](CapacityClasses& of_state, const ClusterState& state) {
    const PlacementJob job = JobOn(state, -1);
    for (int ask = 0; ask < 100; ++ask) {
      if (of_state.LeavesOf(job) != nullptr) return false;
    }
    return true;
  };
  EXPECT_FALSE(is_given_up(classes, cluster));
  for (int host = 0; host < kDistinct; ++host) {
    cluster.AddUsage({{"tas", fmt::format("h{:04}", host), {{"gpu", host}}}});
  }
  EXPECT_TRUE(is_given_up(classes, cluster));
  EXPECT_EQ(classes.count(), 0);
  CapacityClasses of_branch;
  const ClusterState branch = cluster.Branch();
  of_branch.BeginWith(classes, JobOn(branch, -1));
  EXPECT_TRUE(is_given_up(of_branch, branch));
}

}  // namespace
}  // namespace espalier::capacity_classes_test
