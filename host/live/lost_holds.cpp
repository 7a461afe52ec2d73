#include "host/live/lost_holds.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/packing/node_match.hpp"

namespace espalier {
namespace {

// Leaves by flavor.
using Leaves = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

// Returns the leaf of a node in a flavor (R3.1, R4.1), were the node available.
std::optional<std::string> LeafOf(const Node& node, const ResourceFlavor& flavor,
                                  const Topology& topology) {
  const auto path = PathInFlavor(node, flavor, topology.levels);
  if (!path || path->empty()) return std::nullopt;
  return LeafIdText(*path, topology.levels);
}

template <class Value>
const Value* FindByName(const std::vector<Value>& values, std::string_view name) {
  const auto found = std::ranges::find(values, name, &Value::name);
  return found == values.end() ? nullptr : &*found;
}

// A flavor and its topology.
struct Placed {
  const ResourceFlavor* flavor = nullptr;
  const Topology* topology = nullptr;
};

std::vector<Placed> PlacedFlavors(const std::vector<ResourceFlavor>& flavors,
                                  const std::vector<Topology>& topologies) {
  std::vector<Placed> placed;
  for (const ResourceFlavor& flavor : flavors) {
    if (!flavor.topology_name) continue;
    const Topology* topology = FindByName(topologies, *flavor.topology_name);
    if (topology != nullptr) placed.push_back({&flavor, topology});
  }
  return placed;
}

// Takes the leaf that a node is on in each flavor out of `leaves`.
void TakeOut(const Node& node, const std::vector<Placed>& flavors, Leaves& leaves) {
  for (const auto& [flavor, topology] : flavors) {
    const auto of_flavor = leaves.find(flavor->name);
    if (of_flavor == leaves.end()) continue;
    const auto leaf = LeafOf(node, *flavor, *topology);
    if (!leaf) continue;
    of_flavor->second.erase(*leaf);
    if (of_flavor->second.empty()) leaves.erase(of_flavor);
  }
}

std::vector<LostHold> HoldsOn(const Leaves& gone, const Holds& holds) {
  std::vector<LostHold> lost;
  if (gone.empty()) return lost;
  for (const auto& [id, hold] : holds) {
    for (const FlavorLeafUsage& entry : hold->usage) {
      const auto of_flavor = gone.find(entry.flavor);
      if (of_flavor == gone.end() || !of_flavor->second.contains(entry.leaf)) continue;
      lost.push_back({id, entry.flavor, entry.leaf});
      break;
    }
  }
  return lost;
}

Leaves AllLeaves(const Holds& holds) {
  Leaves leaves;
  for (const auto& [id, hold] : holds) {
    for (const FlavorLeafUsage& entry : hold->usage) leaves[entry.flavor].insert(entry.leaf);
  }
  return leaves;
}

// Returns `values` without those that are removed, and with those that come.
template <class Value>
std::vector<Value> After(const std::vector<Value>& values, const std::vector<std::string>& removed,
                         const std::vector<Value>& upserted) {
  std::vector<Value> after;
  for (const Value& value : values) {
    if (std::ranges::find(removed, value.name) != removed.end()) continue;
    if (FindByName(upserted, value.name) == nullptr) after.push_back(value);
  }
  for (auto value = upserted.rbegin(); value != upserted.rend(); ++value) {  // the last one counts
    if (FindByName(after, value->name) == nullptr) after.push_back(*value);
  }
  return after;
}

}  // namespace

std::vector<LostHold> HoldsLostIn(const ClusterStateInput& input, const Holds& holds) {
  Leaves leaves = AllLeaves(holds);
  const std::vector<Placed> flavors = PlacedFlavors(input.flavors, input.topologies);
  for (auto node = input.nodes.begin(); node != input.nodes.end() && !leaves.empty(); ++node) {
    TakeOut(*node, flavors, leaves);
  }
  return HoldsOn(leaves, holds);
}

std::vector<LostHold> HoldsLostBy(const StateDelta& delta, const IndexedInput& input) {
  if (input.holds().empty()) return {};
  const ClusterStateInput& before = input.input();
  std::unordered_set<std::string_view> changed(delta.remove_nodes.begin(),
                                               delta.remove_nodes.end());
  for (const Node& node : delta.upsert_nodes) changed.insert(node.name);
  Leaves leaves;  // held ones that may lose their last node
  if (delta.ChangesFlavors()) {
    leaves = AllLeaves(input.holds());
  } else {
    const std::vector<Placed> flavors = PlacedFlavors(before.flavors, before.topologies);
    for (const std::string_view name : changed) {
      const Node* node = input.FindNode(std::string(name));
      if (node == nullptr) continue;
      for (const auto& [flavor, topology] : flavors) {
        const auto leaf = LeafOf(*node, *flavor, *topology);
        if (leaf && input.UsedByKey(flavor->name, *leaf) != nullptr) {
          leaves[flavor->name].insert(*leaf);
        }
      }
    }
  }
  if (leaves.empty()) return {};
  const auto flavors = After(before.flavors, delta.remove_flavors, delta.upsert_flavors);
  const auto topologies =
      After(before.topologies, delta.remove_topologies, delta.upsert_topologies);
  const std::vector<Placed> placed = PlacedFlavors(flavors, topologies);
  std::unordered_set<std::string_view> came;
  for (auto node = delta.upsert_nodes.rbegin(); node != delta.upsert_nodes.rend(); ++node) {
    if (came.insert(node->name).second) TakeOut(*node, placed, leaves);  // the last one counts
  }
  for (auto node = before.nodes.begin(); node != before.nodes.end() && !leaves.empty(); ++node) {
    if (!changed.contains(node->name)) TakeOut(*node, placed, leaves);
  }
  return HoldsOn(leaves, input.holds());
}

}  // namespace espalier
