// Small clusters for tests: one flavor `tas` on a topology `default` whose levels are the last ones
// of dc, block, rack and kubernetes.io/hostname.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/packing/cluster_state.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

inline const std::string kHost(kHostnameLabel);

// Splits "b1/r1/x3" to {"b1", "r1", "x3"}.
inline std::vector<std::string> Path(std::string_view text) {
  std::vector<std::string> values(1);
  for (const char c : text) {
    if (c == '/') {
      values.emplace_back();
    } else {
      values.back() += c;
    }
  }
  return values;
}

inline std::vector<std::string> LevelKeys(std::size_t depth) {
  const std::vector<std::string> keys = {"dc", "block", "rack", kHost};
  return {keys.end() - static_cast<std::ptrdiff_t>(depth), keys.end()};
}

// Returns a ready node at a path that ends in its hostname; named like the host.
inline Node HostNode(std::string_view path, Resources allocatable) {
  const std::vector<std::string> values = Path(path);
  const std::vector<std::string> keys = LevelKeys(values.size());
  Node node;
  node.name = values.back();
  for (std::size_t i = 0; i < keys.size(); ++i) node.labels.Set(keys[i], values[i]);
  node.ready = true;
  node.allocatable = std::move(allocatable);
  return node;
}

// Returns the flavor `tas` on these levels; nodes are added by the caller.
inline ClusterStateInput OneFlavor(std::vector<std::string> levels) {
  ClusterStateInput input;
  input.topologies.push_back({"default", std::move(levels)});
  ResourceFlavor flavor;
  flavor.name = "tas";
  flavor.topology_name = "default";
  input.flavors.push_back(flavor);
  return input;
}

// Returns a cluster by the convention of the worked examples: hosts with room for so many pods
// of one `gpu` each.
inline ClusterStateInput Gpus(const std::vector<std::pair<std::string, Amount>>& hosts) {
  ClusterStateInput input = OneFlavor(LevelKeys(Path(hosts.front().first).size()));
  for (const auto& [path, gpus] : hosts) {
    input.nodes.push_back(HostNode(path, {{"gpu", gpus}, {"pods", 110}}));
  }
  return input;
}

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
