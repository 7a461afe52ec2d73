#include "fallback_cpu/branch_cache.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/shape_counts.hpp"
#include "host/engine/request_resolution.hpp"
#include "tests/engine/requests.hpp"
#include "tests/packing/states.hpp"

namespace espalier::branch_cache_test {
namespace {

class CountsCache : public BranchCache<ShapeCounts> {
 public:
  using BranchCache::BranchCache;
  std::shared_ptr<Entry> Get(const PlacementJob& job) {
    return BranchCache::Get(job, job.shape, 1000);
  }
};

class BranchCacheTest : public ::testing::Test {
 protected:
  // A job whose shape asks for so many gpus per pod.
  PlacementJob Job(Amount gpus, const ClusterState& state) const {
    PodSetRequest pod_set = MakePodSet(1, Required("rack"));
    pod_set.requests = {{"gpu", gpus}};
    PlacementJob job;
    job.state = state.Find("tas");
    const FlavorSnapshot& snapshot = job.state->snapshot();
    job.shape = MakeShape(*ResolveRequest(pod_set, snapshot, {}), pod_set, nullptr, snapshot);
    return job;
  }
  PlacementJob Job(Amount gpus) const { return Job(gpus, state_); }

  ClusterState state_ = BuildState(Gpus({{"r1/a", 4}, {"r2/b", 4}}));
};

TEST_F(BranchCacheTest, OneEntryPerStateShapeAndKind) {
  CountsCache cache(1 << 20);
  const auto entry = cache.Get(Job(1));
  EXPECT_EQ(cache.Get(Job(1)), entry);
  EXPECT_NE(cache.Get(Job(2)), entry);
  const ClusterState copy = state_.Clone();
  EXPECT_NE(cache.Get(Job(1, copy)), entry);
  PlacementJob empty = Job(1);
  empty.simulate_empty = true;
  EXPECT_NE(cache.Get(empty), entry);
  EXPECT_EQ(cache.Get(Job(1)), entry);
}

// Counted are the racks that the branch that is gone had booked, and those that this one has.
TEST_F(BranchCacheTest, EntriesOfABranchThatIsGoneGoOn) {
  const ClusterState state =
      WithoutClasses(BuildState(MakeRacks({.racks = 100, .hosts = 1, .digits = 2})));
  const auto book = [](ClusterState& on, std::initializer_list<int> racks) {
    for (const int rack : racks) on.AddUsage({{"tas", fmt::format("h{:02}", rack), {{"gpu", 3}}}});
  };
  CountsCache cache(1 << 20);
  CountsStorage leaves;
  // Groups counted by the entry so far, for whatever states. In all, so many pods fit the first
  // rack.
  const auto counted = [&](const ClusterState& on, StoredCount pods_on_first) {
    PlacementJob job = Job(1, on);
    job.replacement_domain = {0, 100};
    const auto entry = cache.Get(job);
    entry->BeginWithParent(job);
    entry->value.Refresh(job, leaves);
    EXPECT_EQ(entry->value.SourceFor(job, leaves).stored().pods[0], pods_on_first);
    return entry->value.groups_counted();
  };
  {
    ClusterState gone = state.Branch();
    book(gone, {0, 1});
    EXPECT_EQ(counted(gone, 5), 100);
    book(gone, {0, 2, 3});
    EXPECT_EQ(counted(gone, 2), 103);
    book(gone, {7});  // nobody asks
  }
  ClusterState branch = state.Branch();
  book(branch, {3, 4});
  EXPECT_EQ(counted(branch, 8), 103 + 6) << "0 to 4 and 7";
  book(branch, {0});
  EXPECT_EQ(counted(branch, 5), 110);
  const ClusterState child = branch.Branch();
  EXPECT_EQ(counted(child, 5), 0) << "begins with the counts of its parent";
  const ClusterState early = branch.Branch();
  book(branch, {8, 9});
  const ClusterState later = branch.Branch();
  EXPECT_EQ(counted(later, 5), 2) << "8 and 9, of which the parent's counts do not know";
  EXPECT_EQ(counted(branch, 5), 112);
  EXPECT_EQ(counted(early, 5), 100) << "the parent's counts are of what came later";
  EXPECT_EQ(counted(state.Clone(), 8), 100);
  {
    ClusterState far = state.Branch();
    for (int rack = 10; rack < 70; ++rack) book(far, {rack});
    EXPECT_EQ(counted(far, 8), 200) << "nothing is known of a clone, whose entry this was";
  }
  EXPECT_EQ(counted(state.Branch(), 8), 300) << "too many differ";
}

// An entry that nobody came to use, as the work was stopped, knows a parent that is not that of the
// state which takes it over.
TEST_F(BranchCacheTest, CountsOfAnotherStatesParentAreNotBegunWith) {
  ClusterState root = WithoutClasses(BuildState(Gpus({{"r1/a", 8}, {"r2/b", 8}, {"r3/c", 8}})));
  CountsCache cache(1 << 20);
  CountsStorage leaves;
  const auto pods_on_first = [&](const ClusterState& on) {
    PlacementJob job = Job(1, on);
    job.replacement_domain = {0, 3};
    const auto entry = cache.Get(job);
    entry->BeginWithParent(job);
    entry->value.Refresh(job, leaves);
    return entry->value.SourceFor(job, leaves).stored().pods[0];
  };
  ClusterState parent = root.Branch();
  EXPECT_EQ(pods_on_first(parent), 8);
  {
    const ClusterState unused = parent.Branch();
    cache.Get(Job(1, unused));
  }
  parent.AddUsage({{"tas", "a", {{"gpu", 3}}}});
  EXPECT_EQ(pods_on_first(parent), 5);
  root.AddUsage({{"tas", "c", {{"gpu", 1}}}});
  EXPECT_EQ(pods_on_first(root.Branch()), 8);
}

TEST_F(BranchCacheTest, LeastRecentlyUsedGivesWay) {
  CountsCache one_at_a_time(1);  // less than any entry takes
  const std::weak_ptr<CountsCache::Entry> first = one_at_a_time.Get(Job(1));
  EXPECT_FALSE(first.expired());  // the newest entry always stays
  EXPECT_EQ(one_at_a_time.Get(Job(1)), first.lock());
  one_at_a_time.Get(Job(2));
  EXPECT_TRUE(first.expired());
}

TEST_F(BranchCacheTest, UseKeepsAnEntryAlive) {
  CountsCache cache(1 << 20);
  std::weak_ptr<CountsCache::Entry> used = cache.Get(Job(1));
  const std::weak_ptr<CountsCache::Entry> unused = cache.Get(Job(2));
  for (Amount gpus = 3; !unused.expired(); ++gpus) {
    cache.Get(Job(gpus));
    ASSERT_EQ(cache.Get(Job(1)), used.lock());
    ASSERT_LT(gpus, 100'000) << "the cache never lets go of anything";
  }
  EXPECT_FALSE(used.expired());
}

TEST_F(BranchCacheTest, EntriesInUseOutliveTheirEviction) {
  CountsCache one_at_a_time(1);
  const std::shared_ptr<CountsCache::Entry> held = one_at_a_time.Get(Job(1));
  one_at_a_time.Get(Job(2));
  PlacementJob job = Job(1);
  job.replacement_domain = {0, 2};
  CountsStorage leaves;
  held->value.Refresh(job, leaves);
  EXPECT_EQ(held->value.SourceFor(job, leaves).stored().pods[0], 4);
}

}  // namespace
}  // namespace espalier::branch_cache_test
