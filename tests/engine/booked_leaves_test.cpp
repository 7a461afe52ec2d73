// Requests in order that are decided ahead: what one booking does to the answer behind it.
#include "host/engine/booked_leaves.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/engine.hpp"
#include "host/engine/workload_placement.hpp"
#include "tests/engine/evaluated.hpp"
#include "tests/engine/lookahead_backend.hpp"
#include "tests/engine/requests.hpp"
#include "tests/packing/states.hpp"

namespace espalier::booked_leaves_test {
namespace {

WorkloadRequest Pods(std::int32_t count, TopologyRequest topology) {
  return MakeWorkload({MakePodSet(count, std::move(topology))});
}

// Batches the back end is asked for when everything is decided ahead; the answers are always those
// of one request after the other.
std::size_t Batches(const ClusterStateInput& cluster, const std::vector<WorkloadRequest>& requests,
                    const FeatureGates& gates = {}) {
  ClusterState one_by_one = BuildState(cluster);
  const auto expected = Engine(MakeCpuBackend(1), gates).PlaceInOrder(one_by_one, requests);
  ClusterState state = BuildState(cluster);
  const auto ahead = std::make_shared<LookaheadBackend>(MakeCpuBackend(1), 8);
  EXPECT_EQ(Engine(ahead, gates).PlaceInOrder(state, requests), expected);
  EXPECT_EQ(state.Find("tas")->remaining(), one_by_one.Find("tas")->remaining());
  return ahead->batches();
}

// Racks with room for 2, 4 and 8.
const ClusterStateInput kRacks = Gpus({{"r1/a", 2}, {"r2/b", 4}, {"r3/c", 4}, {"r3/d", 4}});

TEST(BookedLeavesTest, GangsOnRacksOfTheirOwn) {
  EXPECT_EQ(Batches(kRacks, {Pods(2, Required("rack")), Pods(4, Required("rack")),
                             Pods(8, Required("rack"))}),
            1u);
}

TEST(BookedLeavesTest, TheSameRackIsDecidedAgain) {
  EXPECT_EQ(Batches(kRacks, {Pods(2, Required("rack")), Pods(2, Required("rack"))}), 2u);
}

// r3 has 3 left after the first: tighter than r2 for the second.
TEST(BookedLeavesTest, ARackThatBecameTighterIsChosen) {
  EXPECT_EQ(Batches(kRacks, {Pods(5, Required("rack")), Pods(3, Required("rack"))}), 2u);
}

// r3 has 2 left after the first, which is no match for three pods.
TEST(BookedLeavesTest, ARackThatNoLongerSufficesIsNone) {
  EXPECT_EQ(Batches(kRacks, {Pods(6, Required("rack")), Pods(3, Required("rack"))}), 1u);
}

// Nothing suffices below the block, before and after.
TEST(BookedLeavesTest, AGangThatWentUpALevel) {
  const ClusterStateInput blocks = Gpus({{"b1/r1/a", 4}, {"b1/r2/b", 4}, {"b2/r3/c", 9}});
  EXPECT_EQ(Batches(blocks, {Pods(2, Required("rack")), Pods(8, Preferred("rack"))}), 1u);
  EXPECT_EQ(Batches(blocks, {Pods(9, Required("rack")), Pods(8, Preferred("rack"))}), 2u);
  const ClusterStateInput more = Gpus({{"b1/r1/a", 4}, {"b1/r2/b", 4}, {"b2/r3/c", 1}});
  EXPECT_EQ(Batches(more, {Pods(1, Required("rack")), Pods(8, Preferred("rack"))}), 1u);
}

// Each of several domains may be another one after any change.
TEST(BookedLeavesTest, AGangOnSeveralDomainsIsDecidedAgain) {
  EXPECT_EQ(Batches(kRacks, {Pods(1, Required("rack")), Pods(12, Unconstrained())}), 2u);
}

// The text of a failure counts leaves (R18.5), and how many fit (R18.4).
TEST(BookedLeavesTest, AFailureStandsWhereNothingItReadsChanged) {
  EXPECT_EQ(Batches(kRacks, {Pods(2, Required("rack")), Pods(9, Required("rack"))}), 2u);
  EXPECT_EQ(Batches(kRacks, {Pods(9, Required("rack")), Pods(10, Required("rack")),
                             Pods(2, Required("rack"))}),
            1u);
  WorkloadRequest elsewhere = Pods(9, Required("rack"));
  elsewhere.pod_sets.front().pod_template.node_selector.Set(kHost, "d");
  EXPECT_EQ(Batches(kRacks, {Pods(2, Required("rack")), elsewhere}), 1u);
}

TEST(BookedLeavesTest, SimulateEmptyReadsNoUsage) {
  WorkloadRequest again = Pods(2, Required("rack"));
  again.simulate_empty = true;
  EXPECT_EQ(Batches(kRacks, {Pods(2, Required("rack")), again}), 1u);
}

TEST(BookedLeavesTest, BalancedPlacementIsDecidedAgain) {
  FeatureGates gates;
  gates.balanced_placement = true;
  const std::vector<WorkloadRequest> requests = {Pods(2, Required("rack")),
                                                 Pods(4, Preferred("rack"))};
  EXPECT_EQ(Batches(kRacks, requests), 1u);
  EXPECT_EQ(Batches(kRacks, requests, gates), 2u);
}

// With scores only the top of Order A may answer a preferred request (R10.8).
TEST(BookedLeavesTest, PreferredAffinityIsDecidedAgain) {
  FeatureGates gates;
  gates.respect_node_affinity_preferred = true;
  const std::vector<WorkloadRequest> plain = {Pods(2, Required("rack")),
                                              Pods(4, Preferred("rack"))};
  std::vector<WorkloadRequest> scored = plain;
  scored[1].pod_sets.front().pod_template.affinity.preferred.push_back(
      {10, {{{kHost, "In", {"c"}}}, {}}});
  EXPECT_EQ(Batches(kRacks, plain, gates), 1u);
  EXPECT_EQ(Batches(kRacks, scored, gates), 2u);
}

// Both jobs of a workload must stand.
TEST(BookedLeavesTest, SeveralPodSets) {
  const auto two = [](std::int32_t first, std::int32_t second) {
    return MakeWorkload(
        {MakePodSet(first, Required("rack"), "one"), MakePodSet(second, Required("rack"), "two")});
  };
  EXPECT_EQ(Batches(kRacks, {Pods(2, Required("rack")), two(4, 8)}), 2u) << "one batch a job";
  EXPECT_EQ(Batches(kRacks, {Pods(8, Required("rack")), two(4, 8)}), 4u);
}

// The second pod set is decided beside what the first one is assumed to use (R5.8).
TEST(BookedLeavesTest, AssumedUsageIsLookedAt) {
  const ClusterStateInput racks = Gpus({{"r1/a", 2}, {"r2/b", 6}, {"r3/c", 4}, {"r3/d", 4}});
  WorkloadRequest first = Pods(3, Required("rack"));
  first.pod_sets.front().pod_template.node_selector.Set(kHost, "d");
  const WorkloadRequest second = MakeWorkload(
      {MakePodSet(4, Required(kHost), "on c"), MakePodSet(5, Required("rack"), "on b")});
  EXPECT_EQ(Batches(racks, {first, second}), 2u) << "one batch a job";
}

// Rounds grow where many answers stand, so that more and more is decided together.
TEST(BookedLeavesTest, RoundsGrow) {
  std::vector<std::pair<std::string, Amount>> hosts;
  std::vector<WorkloadRequest> requests;
  for (int i = 1; i <= 100; ++i) {
    std::string rack = std::to_string(i);
    rack += "/host";
    rack += std::to_string(i);
    hosts.emplace_back(std::move(rack), 200 + 2 * i);
    requests.push_back(Pods(200 + 2 * i, Required("rack")));
  }
  ClusterStateInput cluster = Gpus(hosts);
  for (Node& node : cluster.nodes) node.allocatable.Set("pods", 1000);
  ClusterState state = BuildState(cluster);
  const auto ahead = std::make_shared<LookaheadBackend>(MakeCpuBackend(1), 64);
  Engine(ahead, {}).PlaceInOrder(state, requests);
  EXPECT_EQ(ahead->batches(), 4u) << "8, 16, 32, 44";
}

// Decides a job, and tells whether its answer still stands after something else changed.
class StandsTest : public testing::Test {
 protected:
  void Decide(const ClusterStateInput& cluster, const WorkloadRequest& request) {
    state_.emplace(BuildState(cluster));
    WorkloadPlacement placement(request, *state_, gates_);
    job_ = *placement.NextJob();
    result_ = Evaluate(*MakeCpuBackend(1), job_);
  }
  FlavorState& flavor() { return *state_->Find("tas"); }
  void Change(std::string_view leaf, Amount gpus) {
    const LeafId id = flavor().snapshot().FindLeaf(leaf);
    booked_.Note(flavor(), id);
    flavor().Add(id, {{"gpu", gpus}});
  }
  bool StillValid() { return booked_.StillValid(job_, result_.Result()); }

  FeatureGates gates_;
  std::optional<ClusterState> state_;
  PlacementJob job_;
  Evaluated result_;
  BookedLeaves booked_;
};

// A leaf that was booked twice is compared with what it was before both.
TEST_F(StandsTest, RemembersWhatWasBeforeAll) {
  Decide(kRacks, Pods(2, Required("rack")));
  Change("a", 1);
  EXPECT_FALSE(StillValid());
  Change("a", 1);
  Change("a", -2);
  EXPECT_TRUE(StillValid()) << "as before";
  Change("a", 1);
  EXPECT_FALSE(StillValid());
  booked_.Clear();
  EXPECT_TRUE(StillValid()) << "nothing was booked since";
}

// Nothing rests on usage only growing.
TEST_F(StandsTest, RoomThatAppears) {
  ClusterStateInput cluster = Gpus({{"b1/r1/a", 4}, {"b1/r2/b", 4}, {"b2/r3/c", 12}});
  cluster.tas_usage = {{"tas", "c", {{"gpu", 10}}}};
  Decide(cluster, Pods(6, Preferred("rack")));  // on b1, as no rack has room
  EXPECT_EQ(result_.level, 0);
  Change("c", -3);
  EXPECT_TRUE(StillValid()) << "5 are not enough";
  Change("c", -7);
  EXPECT_FALSE(StillValid()) << "12 are, and r3 is a rack";
}

// Large domains are not counted for a check.
TEST_F(StandsTest, NotWorthFindingOut) {
  std::vector<std::pair<std::string, Amount>> hosts = {{"r0/a", 2}};
  for (int i = 0; i < 5000; ++i) {
    std::string name = "r1/b";
    name += std::to_string(i);
    hosts.emplace_back(std::move(name), 1);
  }
  Decide(Gpus(hosts), Pods(2, Required("rack")));
  Change("b7", 1);
  EXPECT_FALSE(StillValid());
}

}  // namespace
}  // namespace espalier::booked_leaves_test
