// Generations of the state, without a connection.
#include "host/live/state_store.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/packing/flavor_state.hpp"
#include "tests/packing/states.hpp"
#include "tests/server/same_state.hpp"

namespace espalier::state_store_test {
namespace {

// Flavors tas and other on the same hosts, and racks, which ends above them.
ClusterStateInput SharedHosts(bool shared) {
  ClusterStateInput input = Gpus({{"r1/a", 8}, {"r1/b", 8}, {"r2/c", 8}});
  input.topologies.push_back({"racks", {"rack"}});
  input.flavors.push_back({"other", {}, {}, {}, "default"});
  input.flavors.push_back({"racks", {}, {}, {}, "racks"});
  input.tas_usage = {{"tas", "a", {{"gpu", 1}, {"pods", 1}}}};
  input.share_usage_between_flavors = shared;
  return input;
}

// The input of the current state.
ClusterStateInput InputOf(StateStore& store) { return store.LoadedAt(std::nullopt)->input; }

ClusterState Built(StateStore& store) {
  auto built = ClusterState::Build(InputOf(store));
  if (!built) ADD_FAILURE() << built.error().message;
  return *std::move(built);
}

StatePosition Book(StateStore& store, const std::vector<FlavorLeafUsage>& usage) {
  const std::shared_ptr<const PublishedState> before = store.Current();
  ClusterState branch = before->state.Branch();
  branch.AddUsage(usage);
  return *store.Book(before->position, std::move(branch));
}

// Booked usage is seen by the flavors it names, and by the others with the next update (R5.6,
// R5.7): from then on the state is as if built.
TEST(StateStoreTest, R5_6_OthersSeeWhatIsBookedWithTheNextUpdate) {
  for (const bool shared : {true, false}) {
    StateStore store;
    StatePosition position = *store.Load(SharedHosts(shared));
    const std::vector<FlavorLeafUsage> usage = {
        {"tas", "a", {{"gpu", 3}, {"pods", 2}}},
        {"other", "a", {{"gpu", 2}, {"pods", 1}}},
        {"racks", "r2", {{"gpu", 7}, {"pods", 1}}},
        {"tas", "z", {{"gpu", 1}}},  // there are none of these two
        {"none", "a", {{"gpu", 1}}},
        {"tas", "b", {{"gpu", 9}, {"odd", 1}}}};
    for (int generation = 0; generation < 3; ++generation) {
      const std::shared_ptr<const PublishedState> before = *store.At(position);
      const auto left = [&](std::string_view flavor) {
        const FlavorState& state = *store.Current()->state.Find(flavor);
        return AmountOn(state.snapshot(), state.remaining(), "a", "gpu");
      };
      const Amount of_tas = left("tas");
      const Amount of_other = left("other");
      position = Book(store, usage);
      EXPECT_EQ(position.generation, before->position.generation + 1);
      EXPECT_EQ((*store.At(position))->nodes, before->nodes);
      EXPECT_EQ(left("tas"), of_tas - 3);
      EXPECT_EQ(left("other"), of_other - 2);
      position = *store.Update(position, {});
      EXPECT_EQ(left("tas"), of_tas - (shared ? 5 : 3));
      ExpectSame((*store.At(position))->state, Built(store));
      // Back ends keep what they know of groups that did not change.
      const FlavorState& now = *(*store.At(position))->state.Find("tas");
      std::size_t differ = 0;
      now.stamps().ForEachDifference(before->state.Find("tas")->stamps(),
                                     before->state.Find("tas")->stamps().latest(),
                                     [&](std::size_t /*group*/) { ++differ; });
      EXPECT_LT(differ, now.stamps().of_group().size());
    }
  }
}

TEST(StateStoreTest, WhatIsStoppedHasNoEffect) {
  StateStore store;
  StatePosition position = *store.Load(SharedHosts(true));
  const std::vector<FlavorLeafUsage> usage = {{"tas", "b", {{"gpu", 2}}}};
  for (int i = 0; i < 4; ++i) {  // so that the next state may be in the memory of an old one
    position = *store.Update(position, {.set_tas_usage = {{"tas", "a", {{"gpu", i + 1}}}}});
  }
  position = Book(store, usage);
  const std::uint64_t checksum = store.CurrentChecked()->checksum;
  WorkBudget stopped;
  stopped.Stop({ErrorClass::kExhausted, "nobody waits for it"});
  Node cordoned = InputOf(store).nodes[0];
  cordoned.unschedulable = true;
  for (StateDelta delta :
       {StateDelta{.set_tas_usage = usage}, StateDelta{.upsert_nodes = {cordoned}}}) {
    const auto updated = store.Update(position, std::move(delta), stopped);
    ASSERT_FALSE(updated);
    EXPECT_EQ(updated.error().message, "nobody waits for it");
  }
  ClusterState branch = store.Current()->state.Branch();
  branch.AddUsage(usage);
  EXPECT_FALSE(store.Book(position, std::move(branch), stopped));
  EXPECT_EQ(store.Current()->position, position);
  EXPECT_EQ(store.CurrentChecked()->checksum, checksum);
  position = *store.Update(position, {});
  ExpectSame((*store.At(position))->state, Built(store));
}

// Who has the next turn may want the store.
TEST(StateStoreTest, HandsNoTurnOnWhileOthersWaitForIt) {
  StateStore store;
  ASSERT_TRUE(store.Load(SharedHosts(true), WorkBudget::Unlimited(),
                         {{.key = {"ns", "a"}, .usage = {{"tas", "a", {{"gpu", 1}}}}},
                          {.key = {"ns", "b"}, .usage = {{"tas", "b", {{"gpu", 1}}}}}}));
  Hold hold;
  hold.id = "held@2";
  hold.usage = {{"tas", "b", {{"gpu", 2}, {"pods", 1}}}};
  hold.expires = HoldClock::TimePoint::max();
  ASSERT_TRUE(store.PlaceHolds(store.Current()->position, {hold}));
  WorkBudget budget;
  int pauses = 0;
  budget.OnPause([&] { ++pauses; });
  budget.RequestPause();
  const auto contents = store.ContentsAt(std::nullopt, budget);
  ASSERT_TRUE(contents);
  EXPECT_EQ(contents->workloads.size(), 2u);
  EXPECT_EQ(contents->held.size(), 1u);
  ASSERT_TRUE(store.LoadedAt(std::nullopt, budget));
  ASSERT_TRUE(store.BeginReading(budget));
  Book(store, {{"tas", "a", {{"gpu", 1}, {"pods", 1}}}});
  ASSERT_TRUE(store.CurrentChecked(budget));
  StateDelta delta;
  delta.remove_nodes = {"c"};
  ASSERT_TRUE(store.Update(store.Current()->position, std::move(delta), budget));
  ASSERT_TRUE(store.ReleaseHolds({"held@2"}, {}, budget));
  ASSERT_TRUE(store.Load(SharedHosts(false), budget));
  EXPECT_EQ(pauses, 0);
  budget.MayContinue();
  EXPECT_EQ(pauses, 1);
}

// Whoever loads a state may say that pods use less than nothing.
TEST(StateStoreTest, OnlyWhatAChangeTakesAwayIsHeldToWhatIsThere) {
  StateStore store;
  ClusterStateInput input = SharedHosts(true);
  const std::string node = input.nodes[0].name;
  input.non_tas_usage = {{node, {{"cpu", -1}, {"gpu", 1}}}};
  ASSERT_TRUE(store.Load(input));
  const auto with = [&](const Resources& more) {
    ProposedChange change;
    change.delta.set_non_tas_usage = {{node, more}};
    return store.With(store.Current()->position, change);
  };
  EXPECT_TRUE(with({{"gpu", -1}}));
  const auto refused = with({{"gpu", -2}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "node " + node +
                                         ": 2 gpu is to be taken away, more than its pods of no "
                                         "topology-aware workload use");
}

// Back ends keep what they know, whether amounts change or nodes.
TEST(StateStoreTest, ChangedNodesKeepWhatIsKnown) {
  StateStore store;
  StatePosition position = *store.Load(SharedHosts(true));
  const std::shared_ptr<const PublishedState> before = store.Current();
  StateDelta delta;
  delta.set_tas_usage = {{"tas", "a", {{"gpu", 2}}}};
  delta.set_non_tas_usage = {{"b", {{"gpu", 1}}}};
  delta.upsert_nodes = {InputOf(store).nodes[2]};
  delta.upsert_nodes[0].allocatable.Set("gpu", 4);
  position = *store.Update(position, delta);
  EXPECT_TRUE(store.Current()->state.IsBranchOf(before->state));
  EXPECT_EQ(store.Current()->shapes, before->shapes);
  ExpectSame(store.Current()->state, Built(store));
  delta = {};
  delta.upsert_nodes = {InputOf(store).nodes[2]};
  delta.upsert_nodes[0].ready = false;
  position = *store.Update(position, delta);
  EXPECT_TRUE(store.Current()->state.IsBranchOf(before->state));
  ExpectSame(store.Current()->state, Built(store));
}

}  // namespace
}  // namespace espalier::state_store_test
