// Generations of the state, without a connection.
#include "service/server/state_store.hpp"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/packing/flavor_state.hpp"
#include "tests/differential/random.hpp"
#include "tests/packing/clusters.hpp"

namespace espalier {
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
  const std::shared_ptr<const Snapshot> before = store.Current();
  ClusterState branch = before->state.Branch();
  branch.AddUsage(usage);
  return *store.Book(before->position, std::move(branch));
}

// Both hold the same on every leaf; leaves and resources may lie elsewhere.
void ExpectSame(const ClusterState& state, const ClusterState& built) {
  ASSERT_EQ(state.FlavorNames(), built.FlavorNames());
  for (const std::string_view name : state.FlavorNames()) {
    const FlavorState& of_state = *state.Find(name);
    const FlavorState& of_built = *built.Find(name);
    ASSERT_EQ(of_state.snapshot().leaf_count(), of_built.snapshot().leaf_count()) << name;
    EXPECT_EQ(of_state.snapshot().node_count(), of_built.snapshot().node_count()) << name;
    for (std::int32_t leaf = 0; leaf < of_state.snapshot().leaf_count(); ++leaf) {
      const std::string id = of_built.snapshot().LeafIdText(LeafId(leaf));
      ASSERT_EQ(of_state.snapshot().LeafIdText(LeafId(leaf)), id);
      for (const std::string& resource : of_built.snapshot().resources()) {
        EXPECT_EQ(AmountOn(of_state.snapshot(), of_state.remaining(), id, resource),
                  AmountOn(of_built.snapshot(), of_built.remaining(), id, resource))
            << name << " " << id << " " << resource;
        EXPECT_EQ(AmountOn(of_state.snapshot(), of_state.free(), id, resource),
                  AmountOn(of_built.snapshot(), of_built.free(), id, resource))
            << name << " " << id << " " << resource;
      }
    }
  }
}

// What is booked is seen by the flavors it names, and by the others with the next update (R5.6,
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
      const std::shared_ptr<const Snapshot> before = *store.At(position);
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
      // What back ends know goes on.
      const FlavorState& now = *(*store.At(position))->state.Find("tas");
      std::size_t differ = 0;
      now.stamps().ForEachDifference(before->state.Find("tas")->stamps(),
                                     before->state.Find("tas")->stamps().latest(),
                                     [&](std::size_t /*block*/) { ++differ; });
      EXPECT_LT(differ, now.stamps().of_block().size());
    }
  }
}

// A cluster whose nodes come and go.
class ChangingCluster {
 public:
  explicit ChangingCluster(std::uint64_t seed) : random_(seed) {
    input_.topologies = {{"default", {"rack", std::string(kHostnameLabel)}}, {"racks", {"rack"}}};
    input_.flavors = {{"tas", {}, {}, {}, "default"},
                      {"other", {{"pool", "p1"}}, {}, {}, "default"},
                      {"racks", {}, {}, {}, "racks"}};
    input_.share_usage_between_flavors = random_.Chance(70);
    for (int n = 0; n < 24; ++n) input_.nodes.push_back(AnyNode(n));
  }

  const ClusterStateInput& input() const { return input_; }
  differential::Random& random() { return random_; }

  StateDelta AnyChange(const ClusterStateInput& now) {
    StateDelta delta;
    const std::int64_t kind = random_.Between(0, 9);
    for (std::int64_t i = random_.Between(0, 3); i >= 0; --i) {
      if (kind < 4) {
        delta.set_tas_usage.push_back(AnyUsage());
      } else if (kind < 6) {
        delta.set_non_tas_usage.push_back({Name(random_.Between(0, 27)), AnyResources()});
      } else if (kind < 8 && !now.nodes.empty()) {
        Node node = now.nodes[static_cast<std::size_t>(
            random_.Between(0, static_cast<std::int64_t>(now.nodes.size()) - 1))];
        node.allocatable = AnyResources();
        if (kind == 7 && random_.Chance(30)) node.ready = !node.ready;
        delta.upsert_nodes.push_back(std::move(node));
      } else if (random_.Chance(50)) {
        delta.upsert_nodes.push_back(AnyNode(random_.Between(0, 27)));
      } else if (!now.nodes.empty() && delta.remove_nodes.empty()) {
        delta.remove_nodes.push_back(now.nodes.front().name);
      }
    }
    if (random_.Chance(3)) {
      delta.set_tas_usage.push_back(
          {"tas", Name(3), {{"gpu", std::numeric_limits<Amount>::max() - random_.Between(0, 3)}}});
    }
    return delta;
  }

  FlavorLeafUsage AnyUsage() {
    const std::string flavor = random_.Pick({"tas", "other", "racks", "none"});
    return {flavor,
            flavor == "racks" ? fmt::format("r{}", random_.Between(0, 7))
                              : Name(random_.Between(0, 27)),
            AnyResources()};
  }

 private:
  static std::string Name(std::int64_t n) { return fmt::format("n{:02}", n); }

  Resources AnyResources() {
    Resources resources;
    for (const char* name : {"cpu", "gpu", "pods", "odd"}) {
      if (random_.Chance(name == std::string_view("odd") ? 4 : 60)) {
        resources.Set(name, random_.Between(0, 40));
      }
    }
    return resources;
  }

  Node AnyNode(std::int64_t n) {
    Node node;
    node.name = Name(n);
    node.labels = {{std::string(kHostnameLabel), node.name},
                   {"pool", random_.Chance(50) ? "p1" : "p2"},
                   {"rack", fmt::format("r{}", n / 4)}};
    node.allocatable = AnyResources();
    node.ready = random_.Chance(90);
    return node;
  }

  differential::Random random_;
  ClusterStateInput input_;
};

// Whatever is changed, booked and refused in whatever order: after each update the state is the one
// that its input makes.
TEST(StateStoreTest, ChangedStatesAreAsIfBuilt) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    ChangingCluster cluster(seed);
    StateStore store;
    StatePosition position = *store.Load(cluster.input());
    std::vector<std::shared_ptr<const Snapshot>> readers;  // of older generations
    for (int step = 0; step < 60; ++step) {
      if (cluster.random().Chance(20)) {
        position = Book(store, {cluster.AnyUsage(), cluster.AnyUsage()});
      }
      const ClusterStateInput before = InputOf(store);
      WorkBudget budget;
      if (cluster.random().Chance(10)) budget.Stop({ErrorClass::kCancelled, "stopped"});
      StateDelta delta = cluster.AnyChange(before);
      const auto updated = store.Update(position, std::move(delta), budget);
      if (!updated) {
        EXPECT_EQ(store.Current()->position, position);
        continue;
      }
      position = *updated;
      ASSERT_NO_FATAL_FAILURE(ExpectSame(store.Current()->state, Built(store))) << step;
      if (cluster.random().Chance(30)) readers.push_back(store.Current());
      if (readers.size() > 3) readers.erase(readers.begin());
      if (HasFailure()) return;
    }
  }
}

// Amounts, whatever they belong to, leave the nodes and what is known of them in place.
TEST(StateStoreTest, ChangedAmountsKeepTheNodes) {
  StateStore store;
  StatePosition position = *store.Load(SharedHosts(true));
  const std::shared_ptr<const Snapshot> before = store.Current();
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
  EXPECT_FALSE(store.Current()->state.IsBranchOf(before->state));
  ExpectSame(store.Current()->state, Built(store));
}

}  // namespace
}  // namespace espalier
