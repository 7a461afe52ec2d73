// Small clusters and trees for tests of nested gangs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/engine/nested_request.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

inline const std::string kBlock = "cloud/block";
inline const std::string kRack = "cloud/rack";
inline const std::string kHost = "kubernetes.io/hostname";
inline const std::string kGpu = "nvidia.com/gpu";

// Nodes of flavor "gpu": racks by block, hosts by rack, each host with so many GPUs. Block b0, rack
// b0-r0, host b0-r0-h0 and so on.
using Blocks = std::vector<std::vector<std::vector<std::int64_t>>>;

inline ClusterStateInput ClusterOf(const Blocks& blocks) {
  ClusterStateInput input;
  input.topologies = {{"tree", {kBlock, kRack, kHost}}};
  ResourceFlavor flavor;
  flavor.name = "gpu";
  flavor.topology_name = "tree";
  input.flavors = {flavor};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const std::string block = "b" + std::to_string(b);
    for (std::size_t r = 0; r < blocks[b].size(); ++r) {
      const std::string rack = block + "-r" + std::to_string(r);
      for (std::size_t h = 0; h < blocks[b][r].size(); ++h) {
        Node node;
        node.ready = true;
        node.name = rack + "-h" + std::to_string(h);
        node.labels = {{kBlock, block}, {kRack, rack}, {kHost, node.name}};
        node.allocatable = {{kGpu, blocks[b][r][h]}, {"cpu", 1'000'000}, {"pods", 1000}};
        input.nodes.push_back(std::move(node));
      }
    }
  }
  return input;
}

// Returns an equivalence group of `min` to `max` pods of `gpus` each.
inline NestedGroup Pods(std::string name, std::int32_t min, std::int32_t max,
                        std::int64_t gpus = 1) {
  NestedGroup group;
  group.name = std::move(name);
  group.pods.emplace();
  group.pods->requests = {{kGpu, gpus}};
  group.pods->min_count = min;
  group.pods->max_count = max;
  return group;
}

inline NestedGroup Pods(std::string name, std::int32_t count) {
  return Pods(std::move(name), count, count);
}

inline NestedGroup Group(std::string name, std::vector<NestedGroup> groups) {
  NestedGroup group;
  group.name = std::move(name);
  group.groups = std::move(groups);
  return group;
}

inline NestedGroup Required(const std::string& level, NestedGroup group) {
  group.required = level;
  return group;
}

inline NestedGroup Preferred(const std::string& level, NestedGroup group) {
  group.preferred = level;
  return group;
}

// Returns so many copies, of which the first `required` are required.
inline NestedGroup Copies(std::int32_t copies, std::int32_t required, NestedGroup group) {
  group.copies = copies;
  group.min_copies = required;
  return group;
}

inline NestedRequest RequestOf(NestedGroup root) {
  return {{"ns", "train"}, "gpu", std::move(root)};
}

}  // namespace espalier
