// Generations of the state, without a connection.
#include "service/server/state_store.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/packing/flavor_state.hpp"
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

// What is booked goes into a branch of the state, which is as if built of it (R5.6).
TEST(StateStoreTest, BookedUsageIsAsIfBuilt) {
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
      position = *store.Book(position, usage);
      EXPECT_EQ(position.generation, before->position.generation + 1);
      const std::shared_ptr<const Snapshot> booked = *store.At(position);
      EXPECT_EQ(booked->nodes, before->nodes);
      const ClusterState built = *ClusterState::Build(store.LoadedAt(position)->input);
      for (const char* flavor : {"tas", "other", "racks"}) {
        EXPECT_EQ(booked->state.Find(flavor)->remaining(), built.Find(flavor)->remaining())
            << flavor;
      }
      EXPECT_NE(booked->state.Find("tas")->remaining(), before->state.Find("tas")->remaining());
      // What back ends know goes on.
      const FlavorState& now = *booked->state.Find("tas");
      EXPECT_TRUE(SharedEntries(*before->state.Find("tas")->log(), *now.log()));
    }
  }
}

}  // namespace
}  // namespace espalier
