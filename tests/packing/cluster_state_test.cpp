// ClusterState and FlavorState: the usage ledger of section 5.
#include "host/packing/cluster_state.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/packing/flavor_state.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::cluster_state_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Amount kMax = std::numeric_limits<Amount>::max();

Amount Remaining(const ClusterState& state, std::string_view flavor, std::string_view leaf,
                 std::string_view resource = "gpu") {
  const FlavorState& f = *state.Find(flavor);
  return AmountOn(f.snapshot(), f.remaining(), leaf, resource);
}

// Flavors fa (n1, n2) and fb (n1, n3) share n1; fr is the same nodes by rack.
ClusterStateInput SharedNodes() {
  ClusterStateInput input = Gpus({{"r1/n1", 4}, {"r1/n2", 4}, {"r2/n3", 3}});
  input.topologies.push_back({"racks", {"rack"}});
  input.nodes[0].labels.Set("a", "y");
  input.nodes[1].labels.Set("a", "y");
  input.nodes[0].labels.Set("b", "y");
  input.nodes[2].labels.Set("b", "y");
  input.flavors.clear();
  input.flavors.push_back({"fb", {{"b", "y"}}, {}, {}, "default"});
  input.flavors.push_back({"fa", {{"a", "y"}}, {}, {}, "default"});
  input.flavors.push_back({"fr", {}, {}, {}, "racks"});
  input.flavors.push_back({"plain", {}, {}, {}, std::nullopt});
  return input;
}

TEST(ClusterStateTest, R15_1_FlavorsInByteOrder) {
  const ClusterState state = BuildState(SharedNodes());
  EXPECT_THAT(state.FlavorNames(), ElementsAre("fa", "fb", "fr"));
  EXPECT_EQ(state.Find("plain"), nullptr);  // no topology
  EXPECT_EQ(state.Find("unknown"), nullptr);
}

TEST(ClusterStateTest, R5_4_UsageIsBookedByLeafId) {
  ClusterStateInput input = SharedNodes();
  input.tas_usage = {{"fa", "n2", {{"gpu", 1}, {"pods", 1}}},
                     {"fa", "n2", {{"gpu", 2}, {"pods", 2}}},
                     {"fr", "r2", {{"gpu", 1}, {"pods", 1}}}};
  const ClusterState state = BuildState(input);
  EXPECT_EQ(Remaining(state, "fa", "n2"), 1);
  EXPECT_EQ(Remaining(state, "fa", "n2", "pods"), 107);
  EXPECT_EQ(Remaining(state, "fa", "n1"), 4);
  EXPECT_EQ(Remaining(state, "fr", "r2"), 2);
  const FlavorSnapshot& snapshot = state.Find("fa")->snapshot();
  EXPECT_EQ(AmountOn(snapshot, snapshot.free(), "n2", "gpu"), 4);  // free is untouched
}

TEST(ClusterStateTest, R5_5_UnknownLeavesAndFlavorsAreSkipped) {
  ClusterStateInput input = SharedNodes();
  input.tas_usage = {{"fa", "n9", {{"gpu", 1}}}, {"fz", "n1", {{"gpu", 1}}}};
  const ClusterState state = BuildState(input);
  EXPECT_EQ(Remaining(state, "fa", "n1"), 4);
}

TEST(ClusterStateTest, R5_6_HostTopologiesSeeEachOthersUsage) {
  ClusterStateInput input = SharedNodes();
  input.tas_usage = {
      {"fa", "n1", {{"gpu", 1}}}, {"fb", "n1", {{"gpu", 2}}}, {"fr", "r1", {{"gpu", 3}}}};
  const ClusterState shared = BuildState(input);
  EXPECT_EQ(Remaining(shared, "fa", "n1"), 1);
  EXPECT_EQ(Remaining(shared, "fb", "n1"), 1);
  EXPECT_EQ(Remaining(shared, "fr", "r1"), 5);  // its own only
  input.share_usage_between_flavors = false;
  const ClusterState apart = BuildState(input);
  EXPECT_EQ(Remaining(apart, "fa", "n1"), 3);
  EXPECT_EQ(Remaining(apart, "fb", "n1"), 2);
}

TEST(ClusterStateTest, R5_7_LaterChangesTouchTheNamedFlavorOnly) {
  ClusterState state = BuildState(SharedNodes());
  const std::vector<FlavorLeafUsage> usage = {
      {"fa", "n1", {{"gpu", 3}}}, {"fa", "n9", {{"gpu", 1}}}, {"fz", "n1", {{"gpu", 1}}}};
  state.AddUsage(usage);
  EXPECT_EQ(Remaining(state, "fa", "n1"), 1);
  EXPECT_EQ(Remaining(state, "fb", "n1"), 4);  // stale until the next cycle
  state.RemoveUsage(usage);
  EXPECT_EQ(Remaining(state, "fa", "n1"), 4);
}

TEST(ClusterStateTest, R5_1_RemainingMayBeNegative) {
  ClusterState state = BuildState(SharedNodes());
  state.AddUsage({{"fa", "n1", {{"gpu", 9}}}});
  EXPECT_EQ(Remaining(state, "fa", "n1"), -5);
}

TEST(ClusterStateTest, R1_7_UsageSaturates) {
  ClusterState state = BuildState(SharedNodes());
  state.AddUsage({{"fa", "n1", {{"gpu", kMax}}}, {"fa", "n1", {{"gpu", kMax}}}});
  EXPECT_EQ(Remaining(state, "fa", "n1"), 4 - kMax);
  state.RemoveUsage({{"fa", "n2", {{"gpu", kMax}}}, {"fa", "n2", {{"gpu", kMax}}}});
  EXPECT_EQ(Remaining(state, "fa", "n2"), kMax);
}

TEST(ClusterStateTest, CloneIsIndependent) {
  ClusterState state = BuildState(SharedNodes());
  state.AddUsage({{"fa", "n1", {{"gpu", 1}}}});
  ClusterState copy = state.Clone();
  copy.AddUsage({{"fa", "n1", {{"gpu", 2}}}});
  EXPECT_EQ(Remaining(state, "fa", "n1"), 3);
  EXPECT_EQ(Remaining(copy, "fa", "n1"), 1);
  EXPECT_EQ(&copy.Find("fa")->snapshot(), &state.Find("fa")->snapshot());  // shared, immutable
  EXPECT_NE(copy.Find("fa")->identity(), state.Find("fa")->identity());
}

TEST(FlavorStateTest, BookIsAddOfTheirUsage) {
  ClusterState by_name = BuildState(SharedNodes());
  ClusterState bound = by_name.Clone();
  by_name.AddUsage({{"fa", "n2", {{"gpu", 6}, {"pods", 3}}}});
  FlavorState& state = *bound.Find("fa");
  const FlavorSnapshot& snapshot = state.snapshot();
  PodShape shape;
  shape.workers = {{"gpu", "odd", "pods"},
                   {snapshot.FindResource("gpu"), -1, snapshot.FindResource("pods")},
                   {2, 7, 1}};
  shape.leader = shape.workers;
  state.Book(std::vector<LeafShare>{{snapshot.FindLeaf("n2"), 1, 2}}, shape);
  EXPECT_EQ(state.remaining(), by_name.Find("fa")->remaining());
}

// However large the amounts that come and go, what remains is what the rule says of free and usage.
TEST(FlavorStateTest, R1_7_UsageIsKeptWhereWhatRemainsIsAtALimit) {
  constexpr Amount kMin = std::numeric_limits<Amount>::min();
  constexpr Amount kAmounts[] = {1,
                                 5,
                                 kMax,
                                 kMin,
                                 kMax - 3,
                                 kMin + 2,
                                 kMax / 2,
                                 kMin / 2,
                                 Amount{1} << 59,
                                 Amount{1} << 60,
                                 0,
                                 -7,
                                 -(Amount{1} << 61)};
  ClusterStateInput input = SharedNodes();
  input.nodes[1].allocatable.Set("gpu", kMax - 1);
  input.non_tas_usage = {{"n3", {{"gpu", kMax}}}};  // free of n3 is 3 - kMax
  for (const std::string leaf : {"n1", "n2", "n3"}) {
    ClusterState state = BuildState(input);
    const std::string flavor = leaf == "n3" ? "fb" : "fa";
    const FlavorSnapshot& snapshot = state.Find(flavor)->snapshot();
    const Amount free = AmountOn(snapshot, snapshot.free(), leaf, "gpu");
    Amount usage = 0;
    Random random(1);
    for (int step = 0; step < 500; ++step) {
      const Amount amount = kAmounts[random.Below(std::size(kAmounts))];
      const bool adds = random.Chance(50);
      const std::vector<FlavorLeafUsage> change = {{flavor, leaf, {{"gpu", amount}}}};
      adds ? state.AddUsage(change) : state.RemoveUsage(change);
      usage = adds ? SaturatingAdd(usage, amount) : SaturatingSubtract(usage, amount);
      ASSERT_EQ(Remaining(state, flavor, leaf), SaturatingSubtract(free, usage)) << step;
      if (step % 100 == 99) state = state.Clone();
    }
  }
}

TEST(FlavorStateTest, AddIgnoresResourcesNoNodeHas) {
  ClusterState state = BuildState(SharedNodes());
  FlavorState& flavor = *state.Find("fa");
  const LeafId leaf = flavor.snapshot().FindLeaf("n2");
  flavor.Add(leaf, {{"a", 1}, {"gpu", 1}, {"hgpu", 2}, {"pods", 3}, {"z", 4}});
  EXPECT_EQ(Remaining(state, "fa", "n2"), 3);
  EXPECT_EQ(Remaining(state, "fa", "n2", "pods"), 107);
  flavor.Remove(leaf, {{"a", 1}, {"gpu", 1}, {"hgpu", 2}, {"pods", 3}, {"z", 4}});
  EXPECT_EQ(flavor.remaining(), flavor.snapshot().free());
}

// More leaves than are fetched ahead, some of them several times, with resources of their own.
TEST(FlavorStateTest, ManyChangesAreOneAfterTheOther) {
  ClusterState together = BuildState(SharedNodes());
  ClusterState one_by_one = together.Clone();
  FlavorState& flavor = *together.Find("fa");
  FlavorState& other = *one_by_one.Find("fa");
  const Resources usage[] = {{{"gpu", 3}, {"pods", 1}}, {{"none", 9}}, {{"pods", 2}}, {{"gpu", 1}}};
  std::vector<LeafChange> changes;
  for (std::int32_t i = 0; i < 40; ++i) changes.push_back({LeafId(i / 3 % 2), &usage[i * i % 4]});
  flavor.Add(changes);
  for (const LeafChange& change : changes) other.Add(change.leaf, *change.usage);
  EXPECT_EQ(flavor.remaining(), other.remaining());
  EXPECT_NE(flavor.remaining(), flavor.snapshot().free());
  flavor.Remove(changes);
  EXPECT_EQ(flavor.remaining(), flavor.snapshot().free());
}

// Amounts of leaves of a tile in order, out of order, and several of one leaf.
TEST(FlavorStateTest, AmountsByNumberAreRemovedOneAfterTheOther) {
  Random random(3);
  const ClusterState cluster = BuildState(MakeRacks(
      {.depth = 3, .racks = 40, .racks_of_block = 10, .has = {{"gpu", 50}, {"pods", 110}}}));
  const FlavorSnapshot& snapshot = cluster.Find("tas")->snapshot();
  const auto columns = static_cast<std::int64_t>(snapshot.resources().size());
  for (int round = 0; round < 50; ++round) {
    ClusterState together = cluster.Clone();
    ClusterState one_by_one = cluster.Clone();
    FlavorState& flavor = *together.Find("tas");
    FlavorState& other = *one_by_one.Find("tas");
    const Stamp before = std::max(flavor.stamps().latest(), other.stamps().latest());
    std::vector<LeafAmount> amounts;
    for (std::int64_t i = random.Between(0, 200); i > 0; --i) {
      amounts.push_back({static_cast<std::int32_t>(random.Between(0, snapshot.leaf_count() - 1)),
                         static_cast<std::int32_t>(random.Between(0, columns - 1)),
                         random.Between(-9, 9)});
    }
    if (random.Chance(70)) {
      std::ranges::sort(amounts, {}, [](const LeafAmount& amount) {
        return std::tuple(TiledCapacity::TileOf(amount.leaf), amount.column, amount.leaf);
      });
    }
    flavor.Remove(amounts);
    for (const auto& [leaf, column, amount] : amounts) {
      other.Remove(LeafId(leaf),
                   {{snapshot.resources()[static_cast<std::size_t>(column)], amount}});
    }
    EXPECT_EQ(flavor.remaining(), other.remaining());
    const auto tiles = static_cast<std::size_t>(snapshot.leaf_count() + 15) / 16;
    const TiledCapacity& found = flavor.tiles();
    const std::size_t width = found.tile_stride();
    EXPECT_TRUE(std::equal(found.Tile(0), found.Tile(0) + tiles * width, other.tiles().Tile(0)));
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      for (std::size_t row = 0; row < width; row += 16) {
        const std::size_t at = tile / 16 * width + row + tile % 16;
        EXPECT_EQ(found.Most()[at], other.tiles().Most()[at]);
      }
    }
    const auto changed = [&](const FlavorState& state) {
      std::vector<std::size_t> groups;
      state.stamps().ForEachSince(before, [&](std::size_t group) { groups.push_back(group); });
      return groups;
    };
    EXPECT_EQ(changed(flavor), changed(other));
  }
}

// Usage replaces other usage whether both name the same resources or not.
TEST(FlavorStateTest, UsageTakesThePlaceOfOther) {
  const Resources gpus = {{"gpu", 2}, {"none", 9}, {"pods", 1}};
  Resources fewer = gpus;  // shares the list of names
  fewer.Set("gpu", 1);
  const Resources usages[] = {{}, gpus, fewer, {{"pods", 5}}, {{"gpu", 3}}, {{"none", 1}}};
  for (const Resources& before : usages) {
    for (const Resources& after : usages) {
      ClusterState replaced = BuildState(SharedNodes());
      ClusterState added = replaced.Clone();
      FlavorState& flavor = *replaced.Find("fa");
      const LeafId leaf = flavor.snapshot().FindLeaf("n2");
      flavor.Add(leaf, before);
      const Stamp shrunk = flavor.stamps().latest();
      flavor.Add(std::array{LeafChange{leaf, &after, &before}});
      added.Find("fa")->Add(leaf, after);
      EXPECT_EQ(flavor.remaining(), added.Find("fa")->remaining());
      if (before.empty() || after == before) {
        EXPECT_TRUE(flavor.OnlyShrankSince(shrunk));
      }
    }
  }
}

TEST(FlavorStateTest, MagnitudeOnlyGrows) {
  ClusterState state = BuildState(SharedNodes());
  FlavorState& flavor = *state.Find("fa");
  const std::int32_t gpu = flavor.snapshot().FindResource("gpu");
  EXPECT_EQ(flavor.Magnitude(gpu), 4);
  state.AddUsage({{"fa", "n1", {{"gpu", 100}}}});
  EXPECT_EQ(flavor.Magnitude(gpu), 96);
  state.RemoveUsage({{"fa", "n1", {{"gpu", 100}}}});
  EXPECT_EQ(flavor.Magnitude(gpu), 96);
}

std::string ErrorOf(const ClusterStateInput& input) {
  const auto state = ClusterState::Build(input);
  if (state) return "no error";
  EXPECT_EQ(state.error().error_class, ErrorClass::kBadInput);
  return state.error().message;
}

TEST(ClusterStateTest, R1_1_BadTopologiesAreErrors) {
  ClusterStateInput input = Gpus({{"n1", 1}});
  input.flavors[0].topology_name = "missing";
  EXPECT_THAT(ErrorOf(input), AllOf(HasSubstr("\"tas\""), HasSubstr("\"missing\"")));
  input = Gpus({{"n1", 1}});
  input.topologies[0].levels.clear();
  EXPECT_THAT(ErrorOf(input), AllOf(HasSubstr("\"default\""), HasSubstr("0 levels")));
  input.topologies[0].levels.assign(17, "");
  for (std::size_t i = 0; i < 17; ++i) input.topologies[0].levels[i] = std::to_string(i);
  EXPECT_THAT(ErrorOf(input), AllOf(HasSubstr("17 levels"), HasSubstr("1 to 16")));
  input.topologies[0].levels.pop_back();
  EXPECT_EQ(ErrorOf(input), "no error");
  input.topologies[0].levels = {"rack", "rack"};
  EXPECT_THAT(ErrorOf(input), HasSubstr("\"rack\" twice"));
}

TEST(ClusterStateTest, RepeatedNamesAreErrors) {
  ClusterStateInput input = Gpus({{"n1", 1}});
  input.nodes.push_back(input.nodes[0]);
  EXPECT_THAT(ErrorOf(input), AllOf(HasSubstr("Node"), HasSubstr("\"n1\"")));
  input = Gpus({{"n1", 1}});
  input.flavors.push_back(input.flavors[0]);
  EXPECT_THAT(ErrorOf(input), AllOf(HasSubstr("ResourceFlavor"), HasSubstr("\"tas\"")));
  input = Gpus({{"n1", 1}});
  input.topologies.push_back(input.topologies[0]);
  EXPECT_THAT(ErrorOf(input), AllOf(HasSubstr("Topology"), HasSubstr("\"default\"")));
}

TEST(ClusterStateTest, ColumnsAreCheckedLikeNodes) {
  const ClusterStateInput input = Gpus({{"r1/n1", 4}, {"r1/n2", 3}});
  NodeColumns columns = *MakeNodeColumns(input.nodes);
  const auto state = ClusterState::BuildFromColumns(columns, input);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->Find("tas")->remaining(), BuildState(input).Find("tas")->remaining());
  columns.names[1] = columns.names[0];
  const auto repeated = ClusterState::BuildFromColumns(columns, input);
  ASSERT_FALSE(repeated);
  EXPECT_THAT(repeated.error().message, AllOf(HasSubstr("\"n1\""), HasSubstr("twice")));
  columns.names.pop_back();
  EXPECT_FALSE(ClusterState::BuildFromColumns(columns, input));
}

TEST(ClusterStateTest, NothingAtAllIsAState) {
  const ClusterState state = BuildState({});
  EXPECT_TRUE(state.FlavorNames().empty());
}

// Flavors that all have the same nodes.
ClusterStateInput ManyFlavors(int flavors, int nodes) {
  std::vector<std::pair<std::string, Amount>> hosts;
  for (int i = 0; i < nodes; ++i) {
    hosts.emplace_back("r" + std::to_string(i / 16) + "/n" + std::to_string(i), 8);
  }
  ClusterStateInput input = Gpus(hosts);
  input.flavors.assign(static_cast<std::size_t>(flavors), input.flavors.front());
  for (int i = 0; i < flavors; ++i) {
    input.flavors[static_cast<std::size_t>(i)].name += std::to_string(i);
  }
  return input;
}

TEST(ClusterStateTest, AStateTakesNoMoreThanTheBudget) {
  constexpr std::int64_t kLimit = std::int64_t{16} << 20;
  WorkBudget budget(kLimit);
  const auto state = ClusterState::Build(ManyFlavors(2000, 500), budget);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().error_class, ErrorClass::kExhausted);
  EXPECT_LT(budget.charged(), kLimit + kLimit / 8);  // it stopped there and then
}

TEST(ClusterStateTest, WhatAStateTakesStaysCharged) {
  const ClusterStateInput one = ManyFlavors(1, 500);
  const ClusterStateInput many = ManyFlavors(100, 500);
  WorkBudget budget_of_one;
  WorkBudget budget_of_many;
  ASSERT_TRUE(ClusterState::Build(one, budget_of_one));
  const auto state = ClusterState::Build(many, budget_of_many);
  ASSERT_TRUE(state);
  const std::int64_t flavor = (budget_of_many.charged() - budget_of_one.charged()) / 99;
  // Free and remaining amounts and tiles, of two resources.
  EXPECT_GT(flavor, 500 * (8 + 8 + 4) * 2);
  EXPECT_LT(flavor, 3 * 500 * (8 + 8 + 4) * 2);
  EXPECT_GT(state->CloneBytes(), 100 * 500 * (8 + 4) * 2);
  EXPECT_LT(state->CloneBytes(), 100 * flavor);
}

TEST(ClusterStateTest, StoppedBuildSaysWhy) {
  WorkBudget budget;
  budget.Stop({ErrorClass::kCancelled, "gone"});
  const auto state = ClusterState::Build(ManyFlavors(1, 5), budget);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error(), (Error{ErrorClass::kCancelled, "gone"}));
}

// Nodes n0, n1, ... in racks of 10, the first of which is not available, each with a resource of
// its own beside common ones.
ClusterStateInput OwnResources(int nodes) {
  ClusterStateInput input = OneFlavor({"rack", kHost});
  for (int i = 0; i < nodes; ++i) {
    const std::string number = std::to_string(i);
    input.nodes.push_back(HostNode("r" + std::to_string(i / 10) + "/n" + number,
                                   {{"gpu", i % 9}, {"pods", 110}, {"own-" + number, i}}));
  }
  input.nodes.front().ready = false;
  return input;
}

TEST(ClusterStateTest, R5_1_SparseAmountsAreThoseOfTheNodes) {
  constexpr int kNodes = 3000;
  ClusterStateInput input = OwnResources(kNodes);
  input.non_tas_usage = {{"n7", {{"own-7", 3}, {"own-8", 2}, {"gpu", 1}, {"unknown", 1}}}};
  ClusterState state = BuildState(input);
  FlavorState& flavor = *state.Find("tas");
  ASSERT_TRUE(flavor.remaining().sparse());
  const ClusterState before = state.Clone();
  flavor.Add(flavor.snapshot().FindLeaf("n9"), {{"own-9", 4}, {"own-10", 5}});
  const ClusterState branch = state.Branch();
  flavor.Remove(flavor.snapshot().FindLeaf("n9"), {{"own-9", 4}});
  const auto check = [&](const ClusterState& of, const std::string& leaf,
                         const std::string& resource, Amount amount) {
    EXPECT_EQ(Remaining(of, "tas", leaf, resource), amount) << resource << " on " << leaf;
  };
  for (int i = 1; i < kNodes; i += 97) {
    const std::string number = std::to_string(i);
    check(before, "n" + number, "own-" + number, i);
    check(before, "n" + number, "own-0", 0);
    check(before, "n" + number, "gpu", i % 9);
    check(before, "n" + number, "pods", 110);
  }
  for (const ClusterState* of : {&std::as_const(before), &branch, &std::as_const(state)}) {
    check(*of, "n7", "own-7", 4);
    check(*of, "n7", "own-8", -2);
    check(*of, "n7", "gpu", 6);
  }
  check(before, "n9", "own-9", 9);
  check(branch, "n9", "own-9", 5);
  check(state, "n9", "own-9", 9);
  check(before, "n9", "own-10", 0);
  check(branch, "n9", "own-10", -5);
}

// Tiles of a sparse state are those made of the same amounts one by one.
TEST(ClusterStateTest, SparseTilesFollowTheAmounts) {
  ClusterStateInput input = OwnResources(1505);  // the last tile is not full
  input.non_tas_usage = {{"n7", {{"own-8", 2}}}};
  ClusterState state = BuildState(input);
  FlavorState& flavor = *state.Find("tas");
  ASSERT_TRUE(flavor.remaining().sparse());
  for (int i = 16; i < 32; ++i) {  // all of a tile below 0, and then one of them above
    flavor.Add(LeafId(i), {{"own-1000", 5}});
  }
  flavor.Remove(LeafId(20), {{"own-1000", 9}});
  const FlavorSnapshot& snapshot = flavor.snapshot();
  const auto columns = static_cast<std::int32_t>(snapshot.resources().size());
  const TiledCapacity dense(std::span(flavor.remaining()), snapshot.stride(), snapshot.leaf_count(),
                            snapshot.magnitudes());
  const std::int32_t tiles = (snapshot.leaf_count() + 15) / 16;
  for (std::int32_t tile = 0; tile < tiles; ++tile) {
    ASSERT_TRUE(std::equal(dense.Tile(tile), dense.Tile(tile) + dense.tile_stride(),
                           flavor.tiles().Tile(tile)))
        << tile;
    const std::ptrdiff_t group = tile / 16 * columns * 16;
    for (std::int32_t column = 0; column < columns; ++column) {
      const std::ptrdiff_t at = group + column * 16 + tile % 16;
      ASSERT_EQ(flavor.tiles().Most()[at], dense.Most()[at]) << tile << " " << column;
    }
  }
  for (std::int32_t column = 0; column < columns; ++column) {
    EXPECT_LE(flavor.tiles().MinTileMax()[column], dense.MinTileMax()[column]);
  }
}

TEST(ClusterStateTest, ResourcesOfFewNodesTakeLittle) {
  constexpr std::int64_t kNodes = 3000;
  WorkBudget budget;
  const auto state = ClusterState::Build(OwnResources(kNodes), budget);
  ASSERT_TRUE(state);
  EXPECT_LT(budget.charged(), kNodes * kNodes * (8 + 8 + 8 + 4) / 5);
  WorkBudget small(std::int64_t{8} << 20);
  EXPECT_EQ(ClusterState::Build(OwnResources(kNodes), small).error().error_class,
            ErrorClass::kExhausted);
}

}  // namespace
}  // namespace espalier::cluster_state_test
