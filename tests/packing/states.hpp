// States of clusters for tests, and what is on their leaves.
#pragma once

#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "host/packing/cluster_state.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/generated/clusters.hpp"

namespace espalier {

inline ClusterState BuildState(const ClusterStateInput& input) {
  auto state = ClusterState::Build(input);
  if (!state) {
    ADD_FAILURE() << state.error().message;
    return *ClusterState::Build({});
  }
  return std::move(*state);
}

// Returns the state without classes of leaves: equal ones are not seen as such.
inline ClusterState WithoutClasses(ClusterState state) {
  for (const std::string_view name : state.FlavorNames()) {
    FlavorState& flavor = *state.Find(name);
    flavor.Add(LeafId(0), {{"pods", 1}});
    flavor.Remove(LeafId(0), {{"pods", 1}});
  }
  return state.Clone();
}

// Returns an amount of a leaf, from `free` or `remaining`.
inline Amount AmountOn(const FlavorSnapshot& snapshot, std::span<const Amount> amounts,
                       std::string_view leaf, std::string_view resource) {
  const LeafId id = snapshot.FindLeaf(leaf);
  const std::int32_t column = snapshot.FindResource(resource);
  if (!id.valid() || column < 0) {
    ADD_FAILURE() << "no leaf " << leaf << " or no resource " << resource;
    return 0;
  }
  return amounts[static_cast<std::size_t>(column * snapshot.stride() + id.value)];
}

}  // namespace espalier
