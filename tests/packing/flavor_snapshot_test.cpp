#include "host/packing/flavor_snapshot.hpp"

#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/packing/states.hpp"

namespace espalier::flavor_snapshot_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Amount kMax = std::numeric_limits<Amount>::max();

const FlavorSnapshot& SnapshotOf(const ClusterState& state) {
  return state.Find("tas")->snapshot();
}

std::vector<std::string> Level(const FlavorSnapshot& snapshot, std::int32_t level) {
  const TreeView tree = snapshot.tree();
  std::vector<std::string> values;
  for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
    values.push_back(snapshot.Value(DomainId(d)));
  }
  return values;
}

std::vector<std::string> Leaves(const FlavorSnapshot& snapshot) {
  std::vector<std::string> ids;
  for (std::int32_t leaf = 0; leaf < snapshot.leaf_count(); ++leaf) {
    ids.push_back(snapshot.LeafIdText(LeafId(leaf)));
  }
  return ids;
}

TEST(FlavorSnapshotTest, R3_1_OnlyAvailableNodes) {
  ClusterStateInput input = Gpus({{"r1/n1", 1}, {"r1/n2", 1}, {"r1/n3", 1}});
  input.nodes[0].unschedulable = true;
  input.nodes[1].ready = false;
  const ClusterState state = BuildState(input);
  EXPECT_THAT(Leaves(SnapshotOf(state)), ElementsAre("n3"));
  EXPECT_EQ(SnapshotOf(state).node_count(), 1);
}

TEST(FlavorSnapshotTest, R3_2_FlavorLabelsAndLevelLabels) {
  ClusterStateInput input = Gpus({{"r1/n1", 1}, {"r1/n2", 1}, {"r1/n3", 1}, {"r1/n4", 1}});
  input.flavors[0].node_labels = {{"pool", "a"}, {"tier", ""}};
  input.nodes[0].labels.Set("pool", "a");  // no `tier`: a missing label reads as empty
  input.nodes[1].labels.Set("pool", "b");
  input.nodes[2].labels.Set("pool", "a");
  input.nodes[2].labels.Set("tier", "gold");
  input.nodes[3].labels.Set("pool", "a");
  input.nodes[3].labels.Erase("rack");  // but a level label must be there
  EXPECT_THAT(Leaves(SnapshotOf(BuildState(input))), ElementsAre("n1"));
  input.nodes[3].labels.Set("rack", "");  // an empty one will do
  EXPECT_THAT(Leaves(SnapshotOf(BuildState(input))), ElementsAre("n4", "n1"));
}

TEST(FlavorSnapshotTest, R4_1_LeafIdsOfBothKindsOfTopology) {
  ClusterStateInput input = Gpus({{"b1/r1/n1", 1}, {"b1/r2/n2", 1}});
  EXPECT_THAT(Leaves(SnapshotOf(BuildState(input))), ElementsAre("n1", "n2"));
  input.topologies[0].levels = {"block", "rack"};
  const ClusterState state = BuildState(input);
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_FALSE(snapshot.host_topology());
  EXPECT_THAT(Leaves(snapshot), ElementsAre("b1,r1", "b1,r2"));
  EXPECT_EQ(snapshot.FindLeaf("b1,r2"), LeafId(1));
  EXPECT_FALSE(snapshot.FindLeaf("r2").valid());
}

TEST(FlavorSnapshotTest, R9_1_DomainsAreInPathOrder) {
  const ClusterState state = BuildState(
      Gpus({{"b2/r1/x2", 5}, {"b1/r2/x1", 2}, {"b1/r1/x5", 3}, {"b1/r2/x6", 1}, {"b1/r1/x3", 3}}));
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_THAT(Level(snapshot, 0), ElementsAre("b1", "b2"));
  EXPECT_THAT(Level(snapshot, 1), ElementsAre("r1", "r2", "r1"));
  EXPECT_THAT(Level(snapshot, 2), ElementsAre("x3", "x5", "x1", "x6", "x2"));
  EXPECT_THAT(snapshot.Path(snapshot.LeafDomain(snapshot.FindLeaf("x6"))),
              ElementsAre("b1", "r2", "x6"));
  const TreeView tree = snapshot.tree();
  EXPECT_THAT(std::vector(tree.level_begin, tree.level_begin + 4), ElementsAre(0, 2, 5, 10));
  EXPECT_THAT(std::vector(tree.child_begin, tree.child_begin + 6), ElementsAre(2, 4, 5, 7, 9, 10));
  EXPECT_THAT(std::vector(tree.parent, tree.parent + 10),
              ElementsAre(-1, -1, 0, 0, 1, 2, 2, 3, 3, 4));
}

TEST(FlavorSnapshotTest, R1_9_ValuesCompareByteWise) {
  const ClusterState state =
      BuildState(Gpus({{"r10/a", 1}, {"r2/b", 1}, {"R3/c", 1}, {"r1/d", 1}, {"r\xc3\xa9/e", 1}}));
  EXPECT_THAT(Level(SnapshotOf(state), 0), ElementsAre("R3", "r1", "r10", "r2", "r\xc3\xa9"));
}

TEST(FlavorSnapshotTest, R4_2_OneNameAtTwoLevels) {
  const ClusterState state = BuildState(Gpus({{"b1/b1/b1", 4}, {"b1/b1/b2", 1}}));
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_EQ(snapshot.FindLeaf("b1"), LeafId(0));
  EXPECT_EQ(snapshot.FindRoot("b1"), DomainId(0));
  EXPECT_FALSE(snapshot.FindRoot("b2").valid());
  EXPECT_EQ(snapshot.Ancestor(LeafId(1), 0), DomainId(0));
  EXPECT_EQ(snapshot.Ancestor(LeafId(1), 1), DomainId(1));
  EXPECT_EQ(snapshot.Ancestor(LeafId(1), 2), DomainId(3));
}

TEST(FlavorSnapshotTest, R4_4_NodesOfOnePathAreOneLeaf) {
  ClusterStateInput input = Gpus({{"b1/r1/n1", 3}, {"b1/r1/n2", 4}, {"b1/r2/n3", 5}});
  input.topologies[0].levels = {"block", "rack"};
  const ClusterState state = BuildState(input);
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_EQ(snapshot.node_count(), 3);
  EXPECT_THAT(Leaves(snapshot), ElementsAre("b1,r1", "b1,r2"));
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "b1,r1", "gpu"), 7);
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "b1,r1", "pods"), 220);
}

TEST(FlavorSnapshotTest, R4_4_DuplicateHostnameTakesThePathOfTheSmallestName) {
  ClusterStateInput input = Gpus({{"r1/h", 3}, {"r2/h", 4}, {"r3/h", 5}});
  input.nodes[0].name = "n2";
  input.nodes[1].name = "n1";
  input.nodes[2].name = "n3";
  input.nodes[0].taints = {{"a", "", "NoSchedule"}};
  input.nodes[1].taints = {{"b", "", "NoSchedule"}};
  const ClusterState state = BuildState(input);
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_THAT(Level(snapshot, 0), ElementsAre("r2"));
  EXPECT_EQ(snapshot.leaf_count(), 1);
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "h", "gpu"), 12);
  EXPECT_EQ(snapshot.Filter({})->taints, (FlatMap<std::int64_t>{{"b:NoSchedule", 1}}));
}

TEST(FlavorSnapshotTest, R4_6_CapacitiesSaturateAndMissingReadsZero) {
  ClusterStateInput input = OneFlavor({"rack"});
  for (const char* name : {"n1", "n2"}) {
    Node node = HostNode(std::string("r1/") + name, {{"cpu", kMax - 1}});
    input.nodes.push_back(node);
  }
  input.nodes.push_back(HostNode("r2/n3", {{"gpu", 2}}));
  const ClusterState state = BuildState(input);
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_THAT(snapshot.resources(), ElementsAre("cpu", "gpu"));
  EXPECT_EQ(snapshot.FindResource("memory"), -1);
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "r1", "cpu"), kMax);
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "r2", "cpu"), 0);
}

TEST(FlavorSnapshotTest, R5_3_NonTasUsageByNodeName) {
  ClusterStateInput input = OneFlavor(LevelKeys(2));  // E17
  input.nodes = {HostNode("r1/n1", {{"cpu", 3900}, {"memory", 4096}, {"pods", 6}}),
                 HostNode("r1/n2", {{"cpu", 1000}, {"memory", 4096}, {"pods", 6}})};
  input.non_tas_usage = {{"n1", {{"cpu", 600}, {"pods", 1}}},
                         {"n2", {{"cpu", 800}, {"pods", 1}}},
                         {"n2", {{"cpu", 800}, {"pods", 1}}},
                         {"elsewhere", {{"cpu", 5}, {"pods", 1}}},
                         {"n1", {{"rdma/x", 5}}}};  // nobody has it: reads 0 either way
  const ClusterState state = BuildState(input);
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "n1", "cpu"), 3300);
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "n1", "pods"), 5);
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "n2", "cpu"), -600);
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "n2", "memory"), 4096);
}

TEST(FlavorSnapshotTest, MagnitudesAreOfWhatIsFree) {
  ClusterStateInput input = Gpus({{"r1/n1", 3}, {"r1/n2", 5}});
  input.non_tas_usage = {{"n1", {{"gpu", 12}}}};
  const ClusterState state = BuildState(input);
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_EQ(snapshot.magnitudes()[static_cast<std::size_t>(snapshot.FindResource("gpu"))], 9);
  EXPECT_EQ(snapshot.magnitudes()[static_cast<std::size_t>(snapshot.FindResource("pods"))], 110);
}

// 512 amounts are a page: columns must not begin at the same place of one.
TEST(FlavorSnapshotTest, ColumnsAreApart) {
  for (const int nodes : {511, 512, 513, 1024}) {
    ClusterStateInput input = OneFlavor(LevelKeys(2));
    for (int n = 0; n < nodes; ++n) {
      input.nodes.push_back(HostNode(fmt::format("r1/n{}", n), {{"cpu", n}, {"gpu", 2 * n}}));
    }
    const ClusterState state = BuildState(input);
    const FlavorSnapshot& snapshot = SnapshotOf(state);
    EXPECT_GE(snapshot.stride(), nodes);
    EXPECT_EQ(snapshot.stride() % 8, 0);
    EXPECT_NE(snapshot.stride() % 512, 0) << nodes;
    EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "n510", "cpu"), 510);
    EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "n510", "gpu"), 1020);
  }
}

TEST(FlavorSnapshotTest, R4_8_EmptyPool) {
  ClusterStateInput input = Gpus({{"b1/r1/n1", 1}});
  input.nodes[0].ready = false;
  const ClusterState state = BuildState(input);
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_EQ(snapshot.leaf_count(), 0);
  EXPECT_EQ(snapshot.domain_count(), 0);
  EXPECT_EQ(snapshot.tree().level_count, 3);
  EXPECT_FALSE(snapshot.FindRoot("b1").valid());
  EXPECT_THAT(snapshot.Filter({})->matches, IsEmpty());
}

TEST(FlavorSnapshotTest, R1_2_SingleLevelIsRootAndLeaf) {
  const ClusterState state = BuildState(Gpus({{"n2", 1}, {"n1", 2}}));
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_THAT(Leaves(snapshot), ElementsAre("n1", "n2"));
  EXPECT_EQ(snapshot.FindRoot("n2"), DomainId(1));
  EXPECT_EQ(snapshot.tree().parent[0], -1);
  EXPECT_EQ(snapshot.Ancestor(LeafId(1), 0), DomainId(1));
}

TEST(FlavorSnapshotTest, RaggedTree) {
  const ClusterState state = BuildState(Gpus({{"d1/b1/r1/a", 1},
                                              {"d1/b1/r1/b", 1},
                                              {"d1/b1/r1/c", 1},
                                              {"d2/b1/r1/d", 1},
                                              {"d2/b2/r1/e", 1},
                                              {"d2/b2/r2/f", 1}}));
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  const TreeView tree = snapshot.tree();
  EXPECT_THAT(std::vector(tree.level_begin, tree.level_begin + 5), ElementsAre(0, 2, 5, 9, 15));
  for (std::int32_t d = 0; d < tree.LevelBegin(3); ++d) {  // children are contiguous
    for (std::int32_t c = tree.ChildBegin(d); c < tree.ChildBegin(d + 1); ++c) {
      EXPECT_EQ(tree.parent[c], d);
    }
  }
  EXPECT_EQ(tree.ChildBegin(tree.LevelBegin(3)), tree.domain_count());
}

TEST(FlavorSnapshotTest, LevelsByKey) {
  const ClusterState state = BuildState(Gpus({{"b1/r1/n1", 1}}));
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  EXPECT_TRUE(snapshot.host_topology());
  EXPECT_EQ(snapshot.FindLevel("block"), 0);
  EXPECT_EQ(snapshot.FindLevel(kHost), 2);
  EXPECT_EQ(snapshot.FindLevel("dc"), -1);
}

TEST(FlavorSnapshotTest, EqualShapesAreOneObject) {
  const ClusterState state = BuildState(Gpus({{"n1", 1}}));
  const FlavorSnapshot& snapshot = SnapshotOf(state);
  PodShape shape;
  shape.workers = {{"gpu", "pods"}, {0, 1}, {1, 1}};
  const auto first = snapshot.Intern(shape);
  EXPECT_EQ(snapshot.Intern(shape), first);
  shape.slice.size = 2;
  const auto second = snapshot.Intern(shape);
  EXPECT_NE(second, first);
  shape.leader = shape.workers;
  EXPECT_NE(snapshot.Intern(shape), second);
}

}  // namespace
}  // namespace espalier::flavor_snapshot_test
