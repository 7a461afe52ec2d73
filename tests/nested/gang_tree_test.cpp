// From the canonical model to the tree that is placed, and trees among flat requests.
#include "host/nested/gang_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "host/engine/engine.hpp"
#include "host/engine/verdicts.hpp"
#include "tests/nested/nested_cluster.hpp"

namespace espalier::gang_tree_test {
namespace {

using testing::HasSubstr;

EqGroup PodsOf(std::string name, std::int32_t least, std::int32_t most) {
  EqGroup group;
  group.name = std::move(name);
  group.min_count = least;
  group.max_count = most;
  group.pod_template.emplace();
  return group;
}

GangWorkload WorkloadOf(std::vector<EqGroup> groups) {
  GangWorkload workload;
  workload.head.key = {"team", "w"};
  GangGroup& gang = workload.gang_groups.emplace_back();
  gang.name = "gg";
  gang.ranked_groups.push_back({.name = "rg", .eq_groups = std::move(groups)});
  return workload;
}

GroupTopologyRequest Levels(TopologyRequest request) { return {.levels = std::move(request)}; }

WorkloadRequest PlannedOn(const std::vector<std::string>& flavors) {
  WorkloadRequest planned;
  for (const std::string& flavor : flavors) {
    PodSetRequest& pod_set = planned.pod_sets.emplace_back();
    pod_set.name = "p" + std::to_string(planned.pod_sets.size());
    pod_set.flavor = flavor;
    pod_set.requests = {{kGpu, static_cast<std::int64_t>(planned.pod_sets.size())}};
  }
  return planned;
}

// Returns the pod sets of the tree's groups of pods, in order, and takes them out of the tree.
std::vector<std::int32_t> TakePodSets(NestedGroup& group) {
  std::vector<std::int32_t> taken;
  if (group.pods) taken.push_back(std::exchange(group.pods->pod_set, -1));
  for (NestedGroup& child : group.groups) {
    for (const std::int32_t pod_set : TakePodSets(child)) taken.push_back(pod_set);
  }
  return taken;
}

GangWorkload NestedInMiddleGroups() {
  GangWorkload workload = WorkloadOf({PodsOf("a", 1, 1)});
  GangGroup& gang = workload.gang_groups[0];
  gang.ranked_groups[0].name = "a";
  gang.ranked_groups[0].within = 1;
  for (const auto& [name, within] : {std::pair("b", 1), std::pair("c", 0), std::pair("d", -1)}) {
    gang.ranked_groups.push_back({.name = name, .eq_groups = {PodsOf(name, 1, 1)}});
    gang.ranked_groups.back().within = within;
  }
  gang.middle_groups = {{.name = "abc", .min_groups = 1},
                        {.name = "ab",
                         .within = 0,
                         .topology_request = {.levels = TopologyRequest{.required = kRack}}}};
  gang.min_groups = 2;
  return workload;
}

// Without the pod sets, which one test looks at.
Result<NestedRequest> TreeOf(const GangWorkload& workload, const WorkloadRequest& planned) {
  auto tree = TreeOf(workload, planned, std::vector<std::string>{kBlock, kRack, kHost});
  if (tree) TakePodSets(tree->root);
  return tree;
}

// Slices and what is left behind them are of the same pod set.
// Groups in the middle stand where they are, with what they ask for; a minimum that is all is none.
TEST(GangTree, HasMiddleGroups) {
  const auto tree = TreeOf(NestedInMiddleGroups(), PlannedOn({"gpu", "gpu", "gpu", "gpu"}));
  ASSERT_TRUE(tree) << tree.error().message;
  const NestedGroup& gang = tree->root.groups.at(0);
  EXPECT_EQ(gang.min_groups, 0) << "of two groups";
  ASSERT_EQ(gang.groups.size(), 2u);
  const NestedGroup& abc = gang.groups[0];
  EXPECT_EQ(abc.name, "abc");
  EXPECT_EQ(abc.min_groups, 1);
  ASSERT_EQ(abc.groups.size(), 2u);
  EXPECT_EQ(abc.groups[0].name, "ab");
  EXPECT_EQ(abc.groups[0].required, kRack);
  ASSERT_EQ(abc.groups[0].groups.size(), 2u);
  EXPECT_EQ(*abc.groups[0].groups[1].groups.at(0).pods->requests.Find(kGpu), 2);
  EXPECT_EQ(abc.groups[1].name, "c");
  EXPECT_EQ(gang.groups[1].name, "d");
}

TEST(TreeOf, GroupsOfPodsSayWhichPodSetTheyAreOf) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 2, 2), PodsOf("none", 0, 0), PodsOf("b", 7, 7)});
  workload.gang_groups[0].ranked_groups[0].eq_groups[2].topology_request =
      Levels({.slice_topology = kRack, .slice_size = 3});
  auto tree = TreeOf(workload, PlannedOn({"gpu", "gpu"}), std::vector<std::string>{kBlock, kRack});
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(TakePodSets(tree->root), (std::vector<std::int32_t>{0, 1, 1}));
}

TEST(TreeOf, EveryLevelOfTheModelIsAGroup) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 2, 2), PodsOf("none", 0, 0), PodsOf("b", 1, 3)});
  workload.gang_groups[0].min_count = 3;
  workload.gang_groups[0].max_count = 5;
  workload.replica_mode = ReplicaMode::kReplicatedGangs;
  workload.replicas = 4;
  workload.topology_request = Levels({.required = kBlock});
  workload.gang_groups[0].topology_request = Levels({.preferred = kRack});
  workload.gang_groups[0].ranked_groups[0].rank_from = LabelFieldPath("rank");
  const auto tree = TreeOf(workload, PlannedOn({"gpu", "gpu"}));
  ASSERT_TRUE(tree) << tree.error().message;
  NestedGroup ranked = Group("rg", {Pods("a", 2, 2, 1), Pods("b", 1, 3, 2)});
  ranked.ranks = RankPlacement::kContiguous;
  const NestedGroup gang = Copies(4, 0, Preferred(kRack, Group("gg", {ranked})));
  EXPECT_EQ(tree->root, Required(kBlock, Group("w", {gang})));
  EXPECT_EQ(tree->flavor, "gpu");
}

TEST(TreeOf, PodSetsOfOneGroupShareADomain) {
  const TopologyRequest request{.required = kRack, .pod_set_group_name = "g"};
  EqGroup leader = PodsOf("leader", 1, 1);
  EqGroup workers = PodsOf("workers", 3, 3);
  leader.topology_request = workers.topology_request = Levels(request);
  const auto tree = TreeOf(WorkloadOf({leader, workers}), PlannedOn({"gpu", "gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root.groups[0].groups[0],
            Required(kRack, Group("rg", {Pods("leader", 1, 1, 1), Pods("workers", 3, 3, 2)})));
  // The gang around them asks where the pod sets are of two ranked groups.
  GangWorkload apart = WorkloadOf({leader});
  apart.gang_groups[0].ranked_groups.push_back({.name = "second", .eq_groups = {workers}});
  const auto over = TreeOf(apart, PlannedOn({"gpu", "gpu"}));
  ASSERT_TRUE(over);
  EXPECT_EQ(over->root.groups[0],
            Required(kRack, Group("gg", {Group("rg", {Pods("leader", 1, 1, 1)}),
                                         Group("second", {Pods("workers", 3, 3, 2)})})));
}

// R25.12: pods that run bind those around them that ask for a domain, and nothing else.
TEST(TreeOf, RunningPodsBindGroupsThatAskForADomain) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 2, 2)});
  GangGroup& gang = workload.gang_groups[0];
  gang.topology_request = Levels({.required = kRack});
  gang.ranked_groups[0].eq_groups[0].running = {{.node = "n", .pods = 1}};
  const auto tree = TreeOf(workload, PlannedOn({"gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_TRUE(tree->root.running_on.empty());
  EXPECT_EQ(tree->root.groups[0].running_on, std::vector<std::string>{"n"});
  EXPECT_TRUE(tree->root.groups[0].groups[0].running_on.empty());
  EXPECT_EQ(tree->root.groups[0].groups[0].groups[0].pods->min_count, 1);
}

TEST(TreeOf, GangsStartInOrderWhereOneIsAskedFor) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 1, 1)});
  workload.gang_groups.push_back(workload.gang_groups[0]);
  workload.gang_groups[1].name = "second";
  const auto apart = TreeOf(workload, PlannedOn({"gpu", "gpu"}));
  ASSERT_TRUE(apart);
  EXPECT_FALSE(apart->root.in_order);
  workload.in_order = true;
  const auto tree = TreeOf(workload, PlannedOn({"gpu", "gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_TRUE(tree->root.in_order);
  EXPECT_EQ(tree->root.groups[1].min_copies, 0);
}

TEST(TreeOf, PodsThatAreReplicasNeedNoOther) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 1, 1)});
  workload.replica_mode = ReplicaMode::kReplicatedPods;
  workload.replicas = 7;
  const auto tree = TreeOf(workload, PlannedOn({"gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root, Group("w", {Group("gg", {Group("rg", {Pods("a", 0, 7)})})}));
}

// R25.2: a domain that is preferred would hold back the pods without room in it.
TEST(TreeOf, PodsOfWhichNoneIsRequiredPreferNoLevel) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 3, 3)});
  workload.gang_groups[0].mode = GangMode::kOff;
  workload.topology_request = Levels({.required = kBlock, .preferred = kRack});
  workload.gang_groups[0].topology_request = Levels({.preferred = kRack});
  const auto tree = TreeOf(workload, PlannedOn({"gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root,
            Required(kBlock, Group("w", {Group("gg", {Group("rg", {Pods("a", 0, 3)})})})));
  EXPECT_FALSE(RequiresPods(tree->root));
}

// R25.10, R25.11.
TEST(TreeOf, RanksGoWhereTheirGroupSays) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 3, 3)});
  GangGroup& gang = workload.gang_groups[0];
  gang.ranked_groups[0].ranks = {RankPlacement::kBalanced, kRack};
  const auto balanced = TreeOf(workload, PlannedOn({"gpu"}));
  ASSERT_TRUE(balanced);
  const NestedGroup& ranked = balanced->root.groups[0].groups[0];
  EXPECT_EQ(ranked.ranks, RankPlacement::kBalanced);
  EXPECT_EQ(ranked.rank_level, kRack);
  EXPECT_TRUE(RequiresPods(balanced->root));
  gang.ranked_groups[0].ranks = {};
  gang.ranks = {RankPlacement::kTogether, kHost};
  gang.ranked_groups.push_back(
      {.name = "other", .rank_from = "rank", .eq_groups = {PodsOf("b", 1, 1), PodsOf("c", 2, 2)}});
  const auto together = TreeOf(workload, PlannedOn({"gpu", "gpu", "gpu"}));
  ASSERT_TRUE(together);
  EXPECT_EQ(together->root.groups[0].ranks, RankPlacement::kTogether);
  EXPECT_EQ(together->root.groups[0].rank_level, kHost);
  EXPECT_EQ(together->root.groups[0].groups[1].ranks, RankPlacement::kByPath)
      << "ranks of two groups cannot be contiguous as well";
}

TEST(TreeOf, SlicesAreCopiesOfAGroup) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 4, 8)});
  workload.gang_groups[0].min_count = 4;
  workload.gang_groups[0].ranked_groups[0].topology_request =
      Levels({.required = kBlock, .slice_topology = kHost, .slice_size = 4});
  const auto tree = TreeOf(workload, PlannedOn({"gpu"}));
  ASSERT_TRUE(tree) << tree.error().message;
  NestedGroup slice = Copies(2, 1, Required(kHost, Pods("slice", 4)));
  EXPECT_EQ(tree->root.groups[0].groups[0], Required(kBlock, Group("rg", {Group("a", {slice})})));
  workload.gang_groups[0].ranked_groups[0].topology_request.levels->slice_size = 3;
  const auto shorter = TreeOf(workload, PlannedOn({"gpu"}));
  ASSERT_TRUE(shorter);
  slice = Copies(2, 2, Required(kHost, Pods("slice", 3)));
  const NestedGroup last = Copies(1, 0, Required(kHost, Pods("last", 2)));
  EXPECT_EQ(shorter->root.groups[0].groups[0],
            Required(kBlock, Group("rg", {Group("a", {slice, last})})));
  workload.gang_groups[0].ranked_groups[0].topology_request.levels->slice_size = 0;
  EXPECT_EQ(TreeOf(workload, PlannedOn({"gpu"})).error().message,
            "group a: a slice has 0 pods; it must have at least 1");
}

TEST(TreeOf, SegmentsAreSlicesOfWhichTheLastMayBeShorter) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 5, 5)});
  workload.topology_request.segments = SliceConstraint{kRack, 4};
  const auto tree = TreeOf(workload, PlannedOn({"gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root.groups[0].groups[0].groups[0],
            Group("a", {Required(kRack, Pods("slice", 4)), Required(kRack, Pods("last", 1))}));
}

TEST(TreeOf, OfSlicesOfPodsThatAreNotRequiredNoneIs) {
  GangWorkload workload = WorkloadOf({PodsOf("a", 0, 3)});
  workload.topology_request = Levels({.slice_topology = kHost, .slice_size = 1});
  const auto tree = TreeOf(workload, PlannedOn({"gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root.groups[0].groups[0].groups[0],
            Group("a", {Copies(3, 0, Required(kHost, Pods("slice", 1)))}));
}

// W1.6: pods on one host are in one rack, and those in one rack are in one block.
TEST(TreeOf, SlicesThatAFinerRequestWithinThemSatisfiesAreLeftOut) {
  EqGroup on_host = PodsOf("z", 2, 2);
  on_host.topology_request = Levels({.required = kHost});
  GangWorkload workload = WorkloadOf({on_host, PodsOf("y", 4, 4)});
  GroupTopologyRequest& ranked = workload.gang_groups[0].ranked_groups[0].topology_request;
  ranked = Levels({.required = kBlock, .slice_topology = kRack, .slice_size = 2});
  const NestedGroup sliced = Group("y", {Copies(2, 2, Required(kRack, Pods("slice", 2, 2, 2)))});
  auto tree = TreeOf(workload, PlannedOn({"gpu", "gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root.groups[0].groups[0],
            Required(kBlock, Group("rg", {Required(kHost, Pods("z", 2)), sliced})));
  workload.gang_groups[0].ranked_groups[0].eq_groups[0].topology_request =
      Levels({.required = kRack});
  tree = TreeOf(workload, PlannedOn({"gpu", "gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root.groups[0].groups[0].groups[0], Required(kRack, Pods("z", 2)));
  ranked.levels->slice_topology = kBlock;
  tree = TreeOf(workload, PlannedOn({"gpu", "gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root.groups[0].groups[0].groups[0], Required(kRack, Pods("z", 2)));
  ranked.levels->slice_topology = kHost;
  tree = TreeOf(workload, PlannedOn({"gpu", "gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root.groups[0].groups[0].groups[0],
            Required(kRack, Group("z", {Required(kHost, Pods("slice", 2))})))
      << "hosts are below the rack";
}

TEST(TreeOf, SlicesAboveALevelBetweenAreLeftOutToo) {  // W1.6: no request names the block
  EqGroup in_rack = PodsOf("z", 2, 2);
  in_rack.topology_request = Levels({.required = kRack});
  GangWorkload workload = WorkloadOf({in_rack});
  workload.topology_request = Levels({.slice_topology = kBlock, .slice_size = 2});
  const auto tree = TreeOf(workload, PlannedOn({"gpu"}));
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->root.groups[0].groups[0].groups[0], Required(kRack, Pods("z", 2)));
}

TEST(TreeOf, ATreeIsOnOneFlavor) {
  const GangWorkload workload = WorkloadOf({PodsOf("a", 1, 1), PodsOf("b", 1, 1)});
  EXPECT_EQ(TreeOf(workload, PlannedOn({"gpu", "cpu"})).error().message,
            "pod sets p1 and p2 go to the flavors gpu and cpu, but the parts of one tree go to one "
            "flavor");
  EXPECT_THAT(TreeOf(workload, PlannedOn({"gpu"})).error().message,
              HasSubstr("eqGroup b goes to no flavor"));
}

WorkloadRequest Flat(std::int32_t pods, std::int64_t gpus = 1) {
  WorkloadRequest request = PlannedOn({"gpu"});
  request.pod_sets[0].count = pods;
  request.pod_sets[0].requests = {{kGpu, gpus}};
  request.pod_sets[0].topology_request = TopologyRequest{.required = kRack};
  return request;
}

class Mixed : public testing::Test {
 protected:
  explicit Mixed(const Blocks& blocks = {{{4}, {2}}})
      : state_(*ClusterState::Build(ClusterOf(blocks))),
        engine_(MakeCpuBackend(1), FeatureGates()) {}

  static WorkloadRequest Tree(NestedGroup root) {
    WorkloadRequest request;
    request.tree = RequestOf(std::move(root));
    return request;
  }

  std::vector<WorkloadAnswer> Place(const std::vector<WorkloadRequest>& requests,
                                    PlacementMode mode) {
    return engine_.Place(state_, requests, mode);
  }

  static bool IsPlacedAt(const std::vector<WorkloadAnswer>& answers, std::size_t i) {
    return answers[i].FirstFailure() == nullptr;
  }

  ClusterState state_;
  Engine engine_;
};

// Requests of either form see what those of either form before them booked.
TEST_F(Mixed, InOrderEachSeesWhatTheOthersBooked) {
  const WorkloadRequest tree = Tree(Required(kRack, Pods("w", 3)));
  const auto answers = Place({Flat(2), tree, Flat(2), tree, Flat(1)}, PlacementMode::kSequential);
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_TRUE(IsPlacedAt(answers, 0));
  EXPECT_TRUE(IsPlacedAt(answers, 1));
  EXPECT_FALSE(IsPlacedAt(answers, 2));
  ASSERT_TRUE(answers[3].tree);
  EXPECT_EQ(answers[3].tree->status, NestedStatus::kNotNow);
  EXPECT_TRUE(IsPlacedAt(answers, 4));
  WorkloadRequest empty = tree;
  empty.simulate_empty = true;
  EXPECT_TRUE(IsPlacedAt(Place({empty}, PlacementMode::kSequential), 0));
}

TEST_F(Mixed, NominatedEachIsAlone) {
  const auto answers =
      Place({Flat(4), Tree(Required(kRack, Pods("w", 4))), Flat(4)}, PlacementMode::kNominate);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(IsPlacedAt(answers, i));
}

TEST_F(Mixed, FlatRequestsThatFitNowNeverOrWhoKnows) {
  WorkloadRequest pair = Flat(4);
  pair.pod_sets.push_back(Flat(4).pod_sets[0]);
  pair.pod_sets[1].name = "second";
  WorkloadRequest unknown = Flat(3);  // six pods have room, and no rack of the two for the second
  unknown.pod_sets.push_back(Flat(3).pod_sets[0]);
  unknown.pod_sets[1].name = "second";
  WorkloadRequest hopeless = Flat(1);
  hopeless.pod_sets.push_back(Flat(5).pod_sets[0]);
  hopeless.pod_sets[1].name = "second";
  WorkloadRequest wrong = Flat(1);
  wrong.pod_sets[0].topology_request->required = "no/level";
  const std::vector<WorkloadRequest> requests = {Flat(4), Flat(3),  Flat(5), pair,
                                                 unknown, hopeless, wrong};
  const auto answers = engine_.Place(state_, requests, PlacementMode::kSequential);
  const auto verdicts = DecideVerdicts(requests, answers, [&](std::vector<WorkloadRequest> asked) {
    for (WorkloadRequest& request : asked) request.simulate_empty = true;
    return Result<std::vector<WorkloadAnswer>>(engine_.Nominate(state_, asked));
  });
  ASSERT_TRUE(verdicts);
  EXPECT_EQ((*verdicts)[0], std::nullopt);
  EXPECT_EQ((*verdicts)[1], NestedStatus::kNotNow);
  EXPECT_EQ((*verdicts)[2], NestedStatus::kNever);
  EXPECT_EQ((*verdicts)[3], NestedStatus::kNever) << "eight pods on six places";
  EXPECT_EQ((*verdicts)[4], NestedStatus::kUndecided);
  EXPECT_EQ((*verdicts)[5], NestedStatus::kNever);
  EXPECT_EQ((*verdicts)[6], std::nullopt);
}

}  // namespace
}  // namespace espalier::gang_tree_test
