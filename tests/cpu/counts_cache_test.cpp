#include "fallback_cpu/counts_cache.hpp"

#include <gtest/gtest.h>

#include "host/engine/request_resolution.hpp"
#include "tests/engine/requests.hpp"
#include "tests/packing/clusters.hpp"

namespace espalier {
namespace {

class CountsCacheTest : public ::testing::Test {
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

TEST_F(CountsCacheTest, OneEntryPerStateShapeAndKind) {
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

TEST_F(CountsCacheTest, LeastRecentlyUsedGivesWay) {
  CountsCache one_at_a_time(1);  // less than any entry takes
  const std::weak_ptr<CountsCache::Entry> first = one_at_a_time.Get(Job(1));
  EXPECT_FALSE(first.expired());  // the newest entry always stays
  EXPECT_EQ(one_at_a_time.Get(Job(1)), first.lock());
  one_at_a_time.Get(Job(2));
  EXPECT_TRUE(first.expired());
}

TEST_F(CountsCacheTest, UseKeepsAnEntryAlive) {
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

TEST_F(CountsCacheTest, EntriesInUseOutliveTheirEviction) {
  CountsCache one_at_a_time(1);
  const std::shared_ptr<CountsCache::Entry> held = one_at_a_time.Get(Job(1));
  one_at_a_time.Get(Job(2));
  PlacementJob job = Job(1);
  job.replacement_domain = {0, 2};
  CountsStorage leaves;
  held->counts.Refresh(job, leaves);
  EXPECT_EQ(held->counts.SourceFor(job, leaves).stored().pods[0], 4);
}

}  // namespace
}  // namespace espalier
