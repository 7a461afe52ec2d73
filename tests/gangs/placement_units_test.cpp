// Tests what of a gang workload is placed as a whole.
#include "host/gangs/placement_units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/gangs/expand.hpp"
#include "host/gangs/gang_counts.hpp"

namespace espalier::placement_units_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

EqGroup Pods(std::string name, std::int32_t count) {
  EqGroup group;
  group.name = std::move(name);
  group.min_count = count;
  group.max_count = count;
  group.pod_template.emplace();
  return group;
}

GangGroup Gang(std::string name, std::vector<EqGroup> groups) {
  GangGroup gang;
  gang.name = std::move(name);
  gang.ranked_groups.push_back({.name = "rg", .eq_groups = std::move(groups)});
  return gang;
}

GroupTopologyRequest Required(std::string level) {
  return {.levels = TopologyRequest{.required = std::move(level)}, .claims = {}};
}

GangWorkload Named(std::vector<GangGroup> gangs) {
  GangWorkload workload;
  workload.head.key = {"team", "w"};
  workload.gang_groups = std::move(gangs);
  Expand(workload);
  return workload;
}

// "name: pod set x count, ..."
std::vector<std::string> Lines(const std::vector<Workload>& units) {
  std::vector<std::string> lines;
  for (const Workload& unit : units) {
    std::string line = unit.key.name + ":";
    for (const PodSet& pod_set : unit.pod_sets) {
      line += " " + pod_set.name + " x " + std::to_string(pod_set.count);
    }
    lines.push_back(line + unit.refusal);
  }
  return lines;
}

TEST(PlacementUnits, AGangIsOne) {
  GangWorkload workload = Named({Gang("gg", {Pods("leader", 1), Pods("workers", 3)})});
  EXPECT_THAT(Lines(PlacementUnits(workload)), ElementsAre("w: leader x 1 workers x 3"));
  EXPECT_THAT(workload.notes, IsEmpty());
}

// W4.6: what a group in the middle requires is said where a flat request cannot hold it.
TEST(PlacementUnits, MiddleGroupsThatAFlatRequestCannotHoldAreNotHonoured) {
  GangWorkload workload;
  workload.head.key = {"team", "w"};
  GangGroup& gang = workload.gang_groups.emplace_back(Gang("gg", {Pods("a", 2)}));
  gang.ranked_groups[0].name = "a";
  gang.ranked_groups.push_back({.name = "b", .eq_groups = {Pods("b", 2)}});
  gang.middle_groups = {{.name = "outer", .min_groups = 1},
                        {.name = "ab", .within = 0, .topology_request = Required("spine")}};
  for (RankedGroup& ranked : gang.ranked_groups) ranked.within = 1;
  gang.ranked_groups.push_back({.name = "c", .eq_groups = {Pods("c", 2)}});
  gang.ranked_groups[2].within = 0;
  Expand(workload);
  GangWorkload tree = workload;
  const std::vector<Workload> units = PlacementUnits(workload);
  ASSERT_EQ(units.size(), 1u);
  EXPECT_THAT(units[0].not_honoured,
              ElementsAre("topologyRequest of group ab: required spine holds for each of its 2 pod "
                          "sets, not for all of them together"));
  EXPECT_EQ(units[0].pod_sets[1].topology_request->required, "spine");
  EXPECT_FALSE(units[0].pod_sets[2].topology_request);
  EXPECT_THAT(workload.notes,
              testing::Contains("all 2 groups of outer are placed together; 1 would do"));
  EXPECT_TRUE(IsNested(tree));
  // One pod set alone is in a domain of the group's where it is in a finer one.
  gang.ranked_groups.erase(gang.ranked_groups.begin() + 1, gang.ranked_groups.end());
  gang.middle_groups[0].min_groups.reset();
  gang.min_count = gang.max_count = 2;
  gang.ranked_groups[0].topology_request = Required("rack");
  EXPECT_FALSE(IsNested(workload));
  EXPECT_EQ(PlacementUnits(workload)[0].pod_sets[0].topology_request->required, "rack");
}

TEST(PlacementUnits, GangsComeInTheirOrder) {
  GangWorkload workload = Named({Gang("z", {Pods("prepare", 1)}), Gang("a", {Pods("train", 2)})});
  const std::vector<Workload> units = PlacementUnits(workload);
  EXPECT_THAT(Lines(units), ElementsAre("w-z: prepare x 1", "w-a: train x 2"));
  EXPECT_LT(units[0].uid, units[1].uid) << "so that the queue keeps the order";
}

// LeaderWorkerSets: W7.
TEST(PlacementUnits, EveryReplicaIsOne) {
  GangWorkload workload = Named({Gang("gg", {Pods("leader", 1), Pods("worker", 1)})});
  workload.replica_mode = ReplicaMode::kReplicatedGangs;
  workload.replicas = 2;
  EXPECT_THAT(Lines(PlacementUnits(workload)),
              ElementsAre("w-0: leader x 1 worker x 1", "w-1: leader x 1 worker x 1"));
  workload.replicas.reset();
  EXPECT_EQ(PlacementUnits(workload).size(), 1u);
  EXPECT_THAT(workload.notes, ElementsAre("the number of replicas is not known: one is placed"));
}

TEST(PlacementUnits, EveryReplicatedPodIsOne) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 1)})});
  workload.gang_groups[0].mode = GangMode::kOff;
  workload.replica_mode = ReplicaMode::kReplicatedPods;
  workload.replicas = 3;
  EXPECT_THAT(Lines(PlacementUnits(workload)),
              ElementsAre("w-0: main x 1", "w-1: main x 1", "w-2: main x 1"));
  EXPECT_EQ(CountUnits(workload), 3);
}

// Also where each replica is placed as a whole.
TEST(PlacementUnits, AreCountedBeforeTheyAreMade) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 2)})});
  workload.replica_mode = ReplicaMode::kReplicatedGangs;
  workload.replicas = 3;
  workload.whole = true;
  EXPECT_EQ(CountUnits(workload), std::ssize(PlacementUnits(workload)));
}

// W1.2: how many pods the group itself counts does not matter.
TEST(PlacementUnits, ReplicatedPodsAreOfTheFirstShape) {
  GangWorkload workload = Named({Gang("gg", {Pods("first", 0), Pods("second", 4)})});
  workload.gang_groups[0].ranked_groups[0].eq_groups[0].max_count = 5;
  workload.gang_groups[0].mode = GangMode::kOff;
  workload.replica_mode = ReplicaMode::kReplicatedPods;
  workload.replicas = 3;
  EXPECT_THAT(Lines(PlacementUnits(workload)),
              ElementsAre("w-0: first x 1", "w-1: first x 1", "w-2: first x 1"));
  EXPECT_EQ(CountUnits(workload), 3);
  EXPECT_THAT(Lines({TreeUnit(workload)}), ElementsAre("w: first x 3 second x 0"));
}

// W1.3: the same wherever the minCount of 0 stands.
TEST(PlacementUnits, NoneOfNoGangAreRequired) {
  GangGroup on_pods = Gang("gg", {Pods("main", 0)});
  on_pods.ranked_groups[0].eq_groups[0].max_count = 5;
  GangGroup on_gang = on_pods;
  on_gang.min_count = 0;
  on_gang.max_count = 5;
  on_gang.ranked_groups[0].eq_groups[0].min_count.reset();
  on_gang.ranked_groups[0].eq_groups[0].max_count.reset();
  for (const GangGroup& gang : {on_pods, on_gang}) {
    GangWorkload workload = Named({gang});
    EXPECT_FALSE(IsNested(workload));
    EXPECT_THAT(Lines(PlacementUnits(workload)), ElementsAre("w:"));
    EXPECT_THAT(workload.notes, IsEmpty());
    EXPECT_THAT(PodCountsOf(workload, workload.gang_groups[0]), ElementsAre(PodCounts{0, 5}));
  }
}

GangWorkload Ranked(std::vector<RankedGroup> groups) {
  GangGroup gang;
  gang.name = "gg";
  gang.ranked_groups = std::move(groups);
  return Named({std::move(gang)});
}

// W1.3: a gang of nine, whose pod sets have the same name by two ways.
TEST(PlacementUnits, PodSetsOfOneUnitHaveDifferentNames) {
  GangWorkload workload = Ranked({{.name = "x-y", .eq_groups = {Pods("z", 1), Pods("t", 1)}},
                                  {.name = "x", .eq_groups = {Pods("y-z", 6), Pods("t", 1)}}});
  EXPECT_THAT(Lines(PlacementUnits(workload)),
              ElementsAre("w: x-y-z x 1 x-y-t x 1 x-y-z-2 x 6 x-t x 1"));
  EXPECT_THAT(Lines({TreeUnit(workload)}),
              ElementsAre("w: x-y-z x 1 x-y-t x 1 x-y-z-2 x 6 x-t x 1"));
}

TEST(PlacementUnits, PodSetsThatAreLeftOutLeaveTheNamesOfOthers) {
  GangWorkload workload = Ranked({{.name = "zero", .eq_groups = {Pods("t", 0)}},
                                  {.name = "one", .eq_groups = {Pods("t", 1)}},
                                  {.name = "two", .eq_groups = {Pods("t", 2)}}});
  EXPECT_THAT(Lines(PlacementUnits(workload)), ElementsAre("w: one x 1 two x 2"));
}

// W1.3, W1.6: no flat request says that as many of them as fit are placed in one domain.
TEST(IsBestEffortInOneDomain, PodsOfNoGangThatARequestBindsAre) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 3)})});
  workload.topology_request = Required("rack");
  EXPECT_FALSE(IsBestEffortInOneDomain(workload)) << "a gang";
  workload.gang_groups[0].mode = GangMode::kOff;
  EXPECT_TRUE(IsBestEffortInOneDomain(workload));
  EXPECT_TRUE(IsNested(workload));
  EXPECT_THAT(Lines({TreeUnit(workload)}), ElementsAre("w: main x 3"));
  workload.whole = true;
  EXPECT_FALSE(IsBestEffortInOneDomain(workload)) << "placed as Kueue does";
  workload.whole = false;
  workload.topology_request.levels = TopologyRequest{.unconstrained = true};
  EXPECT_FALSE(IsBestEffortInOneDomain(workload)) << "nothing binds them";
  EXPECT_EQ(PlacementUnits(workload).size(), 3u);
}

// W1.2: what a template asks for is asked for by each replica that is a pod, as in Kueue.
TEST(IsBestEffortInOneDomain, ReplicasThatArePodsAreByARequestAroundThem) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 3)})});
  workload.replica_mode = ReplicaMode::kReplicatedPods;
  workload.replicas = 3;
  RankedGroup& ranked = workload.gang_groups[0].ranked_groups[0];
  ranked.eq_groups[0].topology_request = Required("rack");
  EXPECT_FALSE(IsBestEffortInOneDomain(workload));
  ranked.topology_request = Required("rack");
  EXPECT_TRUE(IsBestEffortInOneDomain(workload));
}

TEST(TreeUnit, SaysThatAPreferenceKeepsNoPodBack) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 3)})});
  workload.gang_groups[0].mode = GangMode::kOff;
  workload.topology_request.levels = TopologyRequest{.preferred = "rack"};
  TreeUnit(workload);
  EXPECT_THAT(workload.notes, ElementsAre(HasSubstr("preferred rack keeps none of them back")));
}

// R25.10, R25.11.
TEST(PlacementUnits, RanksThatHavePlacesAreNoted) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 3)})});
  workload.gang_groups[0].ranked_groups[0].ranks = {RankPlacement::kStriped, "rack"};
  EXPECT_TRUE(IsNested(workload));
  PlacementUnits(workload);
  EXPECT_THAT(workload.notes,
              ElementsAre("rankPlacement of rankedGroup rg: Striped over rack is not honoured"));
}

// The inner request is within the outer one when both bind the same pods (W1.6).
TEST(PlacementUnits, TheInnerOfTwoRequestsOfThePodsCounts) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 3)})});
  workload.topology_request = Required("block");
  workload.gang_groups[0].ranked_groups[0].topology_request = Required("rack");
  EXPECT_EQ(PlacementUnits(workload).at(0).pod_sets[0].topology_request->required, "rack");
  EXPECT_THAT(workload.notes, IsEmpty());
}

// Any place of the outer domain will do.
TEST(PlacementUnits, AnUnconstrainedRequestIsWithinTheOneAroundIt) {  // W1.6
  GangWorkload workload = Named({Gang("gg", {Pods("main", 4)})});
  workload.topology_request = Required("block");
  workload.topology_request.levels->slice_topology = "rack";
  workload.topology_request.levels->slice_size = 2;
  workload.gang_groups[0].ranked_groups[0].topology_request.levels =
      TopologyRequest{.unconstrained = true};
  const TopologyRequest request = *PlacementUnits(workload).at(0).pod_sets[0].topology_request;
  EXPECT_EQ(request.required, "block");
  EXPECT_EQ(request.unconstrained, std::nullopt);
  EXPECT_EQ(request.slice_topology, "rack");
  EXPECT_EQ(request.slice_size, 2);
  EXPECT_THAT(workload.notes, IsEmpty());
}

TEST(PlacementUnits, SlicesAroundAPreferredLevelHold) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 4)})});
  workload.topology_request.levels = TopologyRequest{.slice_topology = "rack", .slice_size = 2};
  workload.gang_groups[0].ranked_groups[0].topology_request.levels =
      TopologyRequest{.preferred = "block"};
  const TopologyRequest request = *PlacementUnits(workload).at(0).pod_sets[0].topology_request;
  EXPECT_EQ(request.preferred, "block");
  EXPECT_EQ(request.slice_topology, "rack");
  EXPECT_THAT(workload.notes, IsEmpty());
}

TEST(PlacementUnits, SlicesAroundARequiredLevelAreNoted) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 4)})});
  workload.topology_request.levels = TopologyRequest{.slice_topology = "host", .slice_size = 2};
  workload.gang_groups[0].ranked_groups[0].topology_request = Required("rack");
  EXPECT_TRUE(IsNested(workload)) << "the order of levels is known of its topology";
  const TopologyRequest request = *PlacementUnits(workload).at(0).pod_sets[0].topology_request;
  EXPECT_EQ(request.required, "rack");
  EXPECT_FALSE(request.slice_topology);
  EXPECT_THAT(workload.notes, ElementsAre("topologyRequest of the workload: its slices are not "
                                          "honoured beside required rack inside it"));
}

TEST(PlacementUnits, ALeaderAndItsWorkersShareADomainAsAGroup) {
  GangWorkload workload = Named({Gang("gg", {Pods("leader", 1), Pods("workers", 3)})});
  workload.gang_groups[0].topology_request = Required("rack");
  const std::vector<Workload> units = PlacementUnits(workload);
  for (const PodSet& pod_set : units.at(0).pod_sets) {
    EXPECT_EQ(pod_set.topology_request->required, "rack");
    EXPECT_EQ(pod_set.topology_request->pod_set_group_name, "group");
  }
  EXPECT_THAT(workload.notes, IsEmpty());
}

TEST(PlacementUnits, ARequestOverManyPodSetsIsNoted) {
  GangWorkload workload = Named({Gang("gg", {Pods("a", 2), Pods("b", 3)})});
  workload.gang_groups[0].topology_request = Required("rack");
  PlacementUnits(workload);
  EXPECT_THAT(workload.notes,
              ElementsAre("topologyRequest of gangGroup gg: required rack holds for each of its 2 "
                          "pod sets, not for all of them together"));
}

// W1.3: nothing of a gang before its minimum, and nothing at its cost.
TEST(PlacementUnits, OnlyTheMinimumOfAGangIsPlaced) {
  GangWorkload workload = Named({Gang("gg", {Pods("main", 2)})});
  workload.gang_groups[0].max_count = 5;
  EXPECT_THAT(Lines(PlacementUnits(workload)), ElementsAre("w: main x 2"));
  EXPECT_THAT(workload.notes, ElementsAre("gangGroup gg: 2 of its at most 5 pods are placed, as "
                                          "many as it needs"));
}

// W1.8.
TEST(PlacementUnits, AWorkloadOfNoPodsIsOneWithoutPodSets) {
  GangWorkload replicas = Named({Gang("gg", {Pods("main", 1)})});
  replicas.replica_mode = ReplicaMode::kReplicatedPods;
  replicas.replicas = 0;
  EXPECT_THAT(Lines(PlacementUnits(replicas)), ElementsAre("w:"));
  GangWorkload gangs = Named({Gang("gg", {Pods("main", 1)})});
  gangs.replica_mode = ReplicaMode::kReplicatedGangs;
  gangs.replicas = 0;
  EXPECT_THAT(Lines(PlacementUnits(gangs)), ElementsAre("w:"));
}

TEST(PlacementUnits, WhatIsNotKnownIsRefused) {
  GangWorkload empty = Named({});
  EXPECT_THAT(Lines(PlacementUnits(empty)), ElementsAre("w:"));  // W1.8: nothing to place
  GangWorkload shapeless = Named({Gang("gg", {})});
  EXPECT_THAT(Lines(PlacementUnits(shapeless)), ElementsAre(HasSubstr("shape of its pods")));
  GangWorkload waiting = Named({Gang("gg", {Pods("main", 1)})});
  waiting.waits_for = "Workload x is missing";
  EXPECT_THAT(Lines(PlacementUnits(waiting)), ElementsAre("w:Workload x is missing"));
  GangWorkload few = Named({Gang("gg", {Pods("main", 1)})});
  few.gang_groups[0].min_count = 4;
  EXPECT_THAT(Lines(PlacementUnits(few)), ElementsAre(HasSubstr("needs 4 pods")));
}

TEST(IsNested, WhatKueueCanSayIsFlat) {
  EXPECT_FALSE(IsNested(Named({})));
  EXPECT_FALSE(IsNested(Named({Gang("gg", {Pods("main", 4)})})));
  GangWorkload bound = Named({Gang("gg", {Pods("main", 4)})});
  bound.topology_request = Required("block");
  bound.gang_groups[0].topology_request = Required("rack");
  EXPECT_FALSE(IsNested(bound)) << "both bind the same pods";
  GangWorkload led = Named({Gang("gg", {Pods("leader", 1), Pods("workers", 3)})});
  led.topology_request = Required("rack");
  EXPECT_FALSE(IsNested(led)) << "a pod set group";
}

TEST(IsNested, WhatAFlatRequestLeavesOutIsNot) {
  EXPECT_TRUE(IsNested(Named({Gang("first", {Pods("a", 1)}), Gang("second", {Pods("b", 1)})})));
  GangWorkload replicas = Named({Gang("gg", {Pods("main", 4)})});
  replicas.replica_mode = ReplicaMode::kReplicatedGangs;
  replicas.replicas = 2;
  EXPECT_TRUE(IsNested(replicas));
  GangWorkload shared = Named({Gang("gg", {Pods("a", 2), Pods("b", 2)})});
  shared.topology_request = Required("rack");
  EXPECT_TRUE(IsNested(shared));
  GangWorkload both = Named({Gang("gg", {Pods("main", 4)})});
  both.topology_request = Required("block");
  both.topology_request.levels->preferred = "rack";
  EXPECT_TRUE(IsNested(both));
  GangWorkload elastic = Named({Gang("gg", {Pods("main", 2)})});
  elastic.gang_groups[0].max_count = 4;
  EXPECT_TRUE(IsNested(elastic));
  GangWorkload segments = Named({Gang("gg", {Pods("main", 4)})});
  segments.topology_request.segments = SliceConstraint{"rack", 2};
  EXPECT_TRUE(IsNested(segments));
  PlacementUnits(segments);
  EXPECT_THAT(segments.notes, ElementsAre("segments of 2 pods of the workload in one domain of "
                                          "rack each are not honoured"));
  GangWorkload ranked = Named({Gang("gg", {Pods("a", 2), Pods("b", 2)})});
  ranked.gang_groups[0].ranked_groups[0].rank_from = LabelFieldPath("rank");
  EXPECT_TRUE(IsNested(ranked));
}

TEST(TreeUnit, IsAllOfItWithTheFinestRequestOfEachPodSet) {
  GangWorkload workload = Named({Gang("gg", {Pods("a", 2), Pods("b", 3)})});
  workload.replica_mode = ReplicaMode::kReplicatedGangs;
  workload.replicas = 4;
  workload.topology_request = Required("block");
  workload.gang_groups[0].ranked_groups[0].eq_groups[1].topology_request = Required("rack");
  const Workload unit = TreeUnit(workload);
  EXPECT_THAT(Lines({unit}), ElementsAre("w: a x 8 b x 12"));
  EXPECT_EQ(unit.pod_sets[0].topology_request->required, "block");
  EXPECT_EQ(unit.pod_sets[1].topology_request->required, "rack");
  EXPECT_THAT(workload.notes, IsEmpty());
}

TEST(TreeUnit, WhatIsNotKnownIsRefused) {
  GangWorkload few = Named({Gang("gg", {Pods("main", 2)})});
  few.gang_groups[0].min_count = 4;
  EXPECT_THAT(Lines({TreeUnit(few)}), ElementsAre(HasSubstr("needs 4 pods")));
}

TEST(PodCounts, TheMinimumIsWholeAndTheRestMayBe) {
  GangWorkload workload = Named({Gang("gg", {Pods("a", 2), Pods("b", 2)})});
  GangGroup& gang = workload.gang_groups[0];
  gang.ranked_groups[0].eq_groups[0].min_count = 1;
  gang.ranked_groups[0].eq_groups[0].max_count = 4;
  gang.ranked_groups[0].eq_groups[1].max_count = 8;
  gang.min_count = 5;
  gang.max_count = 9;
  EXPECT_THAT(PodCountsOf(workload, gang), ElementsAre(PodCounts{3, 4}, PodCounts{2, 5}));
  gang.ranked_groups[0].eq_groups[1].count = 3;  // there are no more
  EXPECT_THAT(PodCountsOf(workload, gang), ElementsAre(PodCounts{2, 4}, PodCounts{3, 3}));
  gang.mode = GangMode::kOff;
  EXPECT_EQ(PodCountsOf(workload, gang)[0].required, 0);
  workload.whole = true;
  EXPECT_THAT(PodCountsOf(workload, gang), ElementsAre(PodCounts{1, 1}, PodCounts{3, 3}));
}

}  // namespace
}  // namespace espalier::placement_units_test
