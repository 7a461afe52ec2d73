// Tests how much is counted again after usage changed.
#include "fallback_cpu/shape_counts.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "host/engine/leaf_input.hpp"
#include "host/engine/request_resolution.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::shape_counts_test {
namespace {

// Racks of four hosts.
ClusterState StateOf(int racks) { return BuildState(MakeRacks({.racks = racks})); }

PlacementJob JobOn(const FlavorState& state, const PodSetRequest& pod_set) {
  const auto resolved = ResolveRequest(pod_set, state.snapshot(), {});
  PlacementJob job;
  job.state = &state;
  job.query = resolved->query;
  job.shape = MakeShape(*resolved, pod_set, nullptr, state.snapshot());
  job.filter = state.snapshot().FilterOf(*job.shape);
  job.replacement_domain = {0, state.snapshot().leaf_count()};
  return job;
}

PlacementJob JobOn(const FlavorState& state, std::string level) {
  return JobOn(state, MakePodSet(1, Preferred(std::move(level))));
}

// Returns how many leaves each resource excludes, found with the counts of each leaf.
std::vector<std::int64_t> ExcludedLeafByLeaf(const PlacementJob& job) {
  FlatAssumed assumed;
  assumed.Set(job.assumed);
  const LeafInput input = MakeLeafInput(job, assumed);
  std::vector<std::int64_t> excluded(job.shape->workers.names.size(), 0);
  for (std::int32_t leaf = 0; leaf < job.state->snapshot().leaf_count(); ++leaf) {
    if (!Matches(input, leaf) || !InsideDomain(input, leaf)) continue;
    const LeafCounts counts = CountLeaf(input, leaf);
    if (counts.pods == 0 && counts.limiting >= 0) {
      ++excluded[static_cast<std::size_t>(counts.limiting)];
    }
  }
  return excluded;
}

class ShapeCountsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ShapeCountsTest, CountsWhatChangedWhateverTheSizeOfTheCluster) {
  for (const int racks : {8, 64, 2048}) {
    SCOPED_TRACE(racks);
    ClusterState cluster = WithoutClasses(StateOf(racks));
    FlavorState& state = *cluster.Find("tas");
    const PlacementJob job = JobOn(state, GetParam());
    CountsStorage leaves;
    ShapeCounts counts;
    counts.Refresh(job, leaves);
    EXPECT_EQ(counts.groups_counted(), racks);
    counts.Refresh(job, leaves);
    EXPECT_EQ(counts.groups_counted(), racks);
    // Three leaves of two racks, one of them twice.
    for (const int leaf : {0, 1, 17, 17}) {
      state.Book(std::vector<LeafShare>{{LeafId(leaf), 0, 2}}, *job.shape);
    }
    counts.Refresh(job, leaves);
    EXPECT_EQ(counts.groups_counted(), racks + 2);
    EXPECT_EQ(counts.SourceFor(job, leaves).stored().pods[0], 4 * 8 - 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, ShapeCountsTest,
                         ::testing::Values("rack", std::string(kHostnameLabel)),
                         [](const auto& level) { return level.param == "rack" ? "Rack" : "Host"; });

// The first question counts what changed since leaves were classified, the next what changed since.
TEST(ShapeCountsTest, StartsFromClassesOfLeaves) {
  for (const int racks : {8, 64, 2048}) {
    SCOPED_TRACE(racks);
    ClusterState cluster = StateOf(racks);
    FlavorState& state = *cluster.Find("tas");
    const PlacementJob job = JobOn(state, "rack");
    const auto book = [&](std::int32_t leaf) {
      state.Book(std::vector<LeafShare>{{LeafId(leaf), 0, 3}}, *job.shape);
    };
    for (const std::int32_t leaf : {0, 13, 15, 13}) book(leaf);
    CountsStorage leaves;
    ShapeCounts counts;
    counts.Refresh(job, leaves);
    EXPECT_EQ(counts.groups_counted(), 2);
    const StoredCount* pods = counts.SourceFor(job, leaves).stored().pods;
    EXPECT_EQ(std::vector(pods, pods + 5), (std::vector<StoredCount>{29, 32, 32, 23, 32}));
    book(4);
    counts.Refresh(job, leaves);
    EXPECT_EQ(counts.groups_counted(), 3);
    EXPECT_EQ(pods[1], 29);
  }
}

// Compares sums and exclusion reasons, begun from classes at any time, with those counted leaf by
// leaf.
TEST(ShapeCountsTest, R18_7_ClassesOfLeavesChangeNoCount) {
  for (const int hosts_a_rack : {16, 5}) {
    SCOPED_TRACE(hosts_a_rack);
    Random random(static_cast<std::uint64_t>(hosts_a_rack));
    const ClusterStateInput input =
        MakeRacks({.depth = 3,
                   .racks = 23,
                   .racks_of_block = 10,
                   .hosts = hosts_a_rack,
                   .has = {{"cpu", {0, 2}}, {"gpu", {0, 9}}, {"pods", {1, 2, 100}}},
                   .labelled_percent = 70},
                  random);
    ClusterState cluster = BuildState(input);
    FlavorState& state = *cluster.Find("tas");
    const std::int32_t leaf_count = state.snapshot().leaf_count();
    // Each shape is first asked at another time.
    std::vector<PodSetRequest> pod_sets;
    std::vector<ShapeCounts> counts(12);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      pod_sets.push_back(MakePodSet(1, Preferred("rack")));
      pod_sets.back().requests = {{"cpu", random.Between(0, 2)}, {"gpu", random.Between(1, 4)}};
      if (i % 4 == 3) pod_sets.back().pod_template.node_selector = {{"disk", "ssd"}};
    }
    CountsStorage leaves;
    ExclusionCaches caches{ClassesCache(1 << 20), ExcludedCache(1 << 20)};
    for (std::size_t step = 0; step < 120; ++step) {
      SCOPED_TRACE(step);
      if (step == 50) state.ClassifyLeaves();
      for (std::int64_t change = random.Between(0, 9); change > 0; --change) {
        const LeafId leaf(static_cast<std::int32_t>(random.Between(0, leaf_count - 1)));
        state.Add(leaf, {{"gpu", random.Between(-1, 2)}, {"pods", 1}});
      }
      const ClusterState by_leaf = WithoutClasses(cluster.Clone());
      for (int question = 0; question < 2; ++question) {
        const auto i = static_cast<std::size_t>(
            random.Between(0, static_cast<std::int64_t>(std::min(step / 8, counts.size() - 1))));
        const PlacementJob job = JobOn(state, pod_sets[i]);
        const PlacementJob job_by_leaf = JobOn(*by_leaf.Find("tas"), pod_sets[i]);
        ShapeCounts expected;
        expected.Refresh(job_by_leaf, leaves);
        counts[i].Refresh(job, leaves);
        const StoredCount* pods = counts[i].SourceFor(job, leaves).stored().pods;
        const StoredCount* expected_pods = expected.SourceFor(job_by_leaf, leaves).stored().pods;
        const TreeView tree = state.snapshot().tree();
        for (std::int32_t d = 0; d < tree.LevelBegin(tree.lowest()); ++d) {
          ASSERT_EQ(pods[d], expected_pods[d]) << "domain " << d;
        }
        if (random.Chance(50)) continue;
        PlacementJob asked = job;
        if (random.Chance(20)) asked.replacement_domain = {3, leaf_count - 5};
        if (random.Chance(30)) {
          const std::size_t columns = state.snapshot().resources().size();
          asked.assumed.Mutable() = {{LeafId(2), std::vector<Amount>(columns, 1)},
                                     {LeafId(9), std::vector<Amount>(columns, 200)}};
        }
        FailedPlacement failed;
        counts[i].CountExclusions(asked, caches, failed);
        ASSERT_EQ(failed.limited_by, ExcludedLeafByLeaf(asked));
      }
    }
  }
}

// Findings for the classes of leaves of one shape do not serve another shape.
TEST(ShapeCountsTest, R18_7_CountsOfAnotherShapeInTheSameMemory) {
  const ClusterState cluster = WithoutClasses(StateOf(10));
  const FlavorState& state = *cluster.Find("tas");
  CountsStorage leaves;
  ExclusionCaches caches{ClassesCache(1 << 20), ExcludedCache(1 << 20)};
  ShapeCounts counts;
  for (const Amount gpus : {1, 9, 2}) {
    PodSetRequest pod_set = MakePodSet(1, Preferred("rack"));
    pod_set.requests = {{"gpu", gpus}};
    const PlacementJob job = JobOn(state, pod_set);
    counts.Forget();
    counts.Refresh(job, leaves);
    FailedPlacement failed;
    counts.CountExclusions(job, caches, failed);
    EXPECT_EQ(failed.limited_by, ExcludedLeafByLeaf(job));
  }
}

// Counts that held leaves of a small cluster, with their summary, begin with those of a parent,
// which are larger and have none. The racks are counted leaf by leaf, as slices are.
TEST(ShapeCountsTest, ASummaryOfForgottenLeavesIsNotFollowed) {
  const auto with_slices = [](const std::string& level) {
    return MakePodSet(2, Required(level, {{std::string(kHostnameLabel), 2}}));
  };
  CountsStorage leaves;
  ShapeCounts counts;
  const ClusterState small = StateOf(1);
  const PlacementJob on_hosts = JobOn(*small.Find("tas"), with_slices(std::string(kHostnameLabel)));
  counts.Refresh(on_hosts, leaves);
  ASSERT_NE(counts.SourceFor(on_hosts, leaves).slice_index(), nullptr);

  const ClusterState large = WithoutClasses(StateOf(100));
  ShapeCounts of_parent;
  of_parent.Refresh(JobOn(*large.Find("tas"), with_slices("rack")), leaves);
  ClusterState cluster_branch = large.Branch();
  FlavorState& branch = *cluster_branch.Find("tas");
  branch.Add(LeafId(0), {{"gpu", 3}});
  const PlacementJob job = JobOn(branch, with_slices("rack"));
  counts.Forget();
  counts.BeginWith(of_parent, job);
  const std::int64_t before = counts.groups_counted();
  counts.Refresh(job, leaves);
  EXPECT_EQ(counts.groups_counted() - before, 1) << "the parent's counts serve";
  const ShapeCounts::Source source = counts.SourceFor(job, leaves);
  EXPECT_EQ(source.slice_index(), nullptr);
  EXPECT_EQ(source.stored().slices[0], 2 + 3 * 4);
}

TEST(ShapeCountsTest, TheSummaryOfLeavesFollowsWhatChanges) {
  ClusterState cluster = StateOf(100);
  FlavorState& state = *cluster.Find("tas");
  const PlacementJob job = JobOn(state, std::string(kHostnameLabel));
  CountsStorage leaves, fresh_leaves;
  ShapeCounts counts;
  Random random(1);
  for (int change = 0; change < 60; ++change) {
    SCOPED_TRACE(change);
    const LeafId leaf(static_cast<std::int32_t>(random.Between(0, 399)));
    state.Add(leaf, {{"gpu", random.Between(-3, 5)}});
    counts.Refresh(job, leaves);
    ShapeCounts fresh;
    fresh.Refresh(job, fresh_leaves);
    const SliceIndex* index = counts.SourceFor(job, leaves).slice_index();
    const SliceIndex* expected = fresh.SourceFor(job, fresh_leaves).slice_index();
    ASSERT_NE(index, nullptr);
    ASSERT_NE(expected, nullptr);
    for (StoredCount need = 0; need <= expected->histogram->most() + 1; ++need) {
      EXPECT_EQ(index->FirstTightest(need), expected->FirstTightest(need));
    }
    EXPECT_EQ(index->histogram->Sum(), expected->histogram->Sum());
  }
}

// A rack that holds nothing cannot hold more while usage only grows.
TEST(ShapeCountsTest, LeavesEmptyRacksAloneUntilCapacityComesBack) {
  ClusterState cluster = StateOf(8);
  FlavorState& state = *cluster.Find("tas");
  const PlacementJob job = JobOn(state, "rack");
  CountsStorage leaves;
  ShapeCounts counts;
  for (int leaf = 0; leaf < 4; ++leaf) state.Add(LeafId(leaf), {{"gpu", 8}});
  counts.Refresh(job, leaves);
  const std::int64_t all = counts.groups_counted();
  EXPECT_EQ(counts.SourceFor(job, leaves).stored().pods[0], 0);
  state.Add(LeafId(0), {{"gpu", 1}});
  counts.Refresh(job, leaves);
  EXPECT_EQ(counts.groups_counted(), all);
  state.Remove(LeafId(0), {{"gpu", 4}});
  counts.Refresh(job, leaves);
  EXPECT_EQ(counts.groups_counted(), all + 1);
  EXPECT_EQ(counts.SourceFor(job, leaves).stored().pods[0], 3);
}

}  // namespace
}  // namespace espalier::shape_counts_test
