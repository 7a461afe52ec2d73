// Checks whether a state is the one that its input makes.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "host/packing/flavor_state.hpp"
#include "tests/packing/states.hpp"

namespace espalier {

// Expects that both hold the same on every leaf; resources and vacant leaves may lie elsewhere.
inline void ExpectSame(const ClusterState& state, const ClusterState& built) {
  ASSERT_EQ(state.FlavorNames(), built.FlavorNames());
  for (const std::string_view name : state.FlavorNames()) {
    SCOPED_TRACE(name);
    const FlavorState& of_state = *state.Find(name);
    const FlavorState& of_built = *built.Find(name);
    const FlavorSnapshot& snapshot = of_state.snapshot();
    ASSERT_EQ(snapshot.occupied_leaf_count(), of_built.snapshot().leaf_count());
    EXPECT_EQ(snapshot.node_count(), of_built.snapshot().node_count());
    for (std::int32_t leaf = 0; leaf < snapshot.leaf_count(); ++leaf) {
      if (snapshot.leaf_nodes().IsVacant(LeafId(leaf))) continue;
      const LeafId there(snapshot.IndexOf(LeafId(leaf)));
      const std::string id = snapshot.LeafIdText(LeafId(leaf));
      ASSERT_EQ(id, of_built.snapshot().LeafIdText(there));
      ASSERT_EQ(snapshot.Path(snapshot.LeafDomain(LeafId(leaf))),
                of_built.snapshot().Path(of_built.snapshot().LeafDomain(there)));
      ASSERT_TRUE(snapshot.host_topology() == false || snapshot.FindLeaf(id) == LeafId(leaf));
      for (const std::string& resource : of_built.snapshot().resources()) {
        const auto amount = [&](const FlavorState& flavor, const PagedArray<Amount>& amounts,
                                std::int32_t at) {
          const std::int32_t column = flavor.snapshot().FindResource(resource);
          EXPECT_GE(column, 0) << resource;
          return amounts[static_cast<std::size_t>(column * flavor.snapshot().stride() + at)];
        };
        EXPECT_EQ(amount(of_state, of_state.remaining(), leaf),
                  amount(of_built, of_built.remaining(), there.value))
            << id << " " << resource;
        EXPECT_EQ(amount(of_state, of_state.free(), leaf),
                  amount(of_built, of_built.free(), there.value))
            << id << " " << resource;
      }
    }
  }
}

}  // namespace espalier
