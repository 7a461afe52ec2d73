// Makes the clusters of the benchmark suite: real and recorded shapes by name, generated as
// columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/result.hpp"
#include "host/model/topology.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/packing/node_columns.hpp"

namespace espalier {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kGpuModelLabel = "nvidia.com/gpu.product";
inline constexpr std::string_view kNodeGroupLabel = "example.com/node-group";
inline constexpr std::string_view kBenchFlavor = "bench";
inline constexpr std::string_view kBenchTopology = "bench";
inline constexpr Amount kMebibyte = Amount{1} << 20;

struct TopologyChoice {
  std::string name;         // T-131K and so on
  int resources = 4;        // 4, 8 or 30; only T-131K, T-RAGGED and T-GRID have more than 4
  std::int64_t nodes = 0;   // keeps only this many, first in path order; 0: all
  std::uint64_t seed = 50;  // for random choices; full trees make none
};

// One level of a full tree: the domain with index i under its parent has the value PREFIXi.
struct TreeLevel {
  std::string key;
  std::string prefix;
  std::int64_t fanout = 0;
};

// A cluster of N nodes in path order, all of them in the one flavor kBenchFlavor on the topology
// kBenchTopology. The last level is the hostname; node k has the value and name PREFIXk.
struct BenchCluster {
  std::string name;
  NodeColumns nodes;
  std::vector<std::string> levels;  // keys, coarsest first
  // The levels of a full tree of equal nodes, which may be cut off at the end; empty for all other
  // clusters.
  std::vector<TreeLevel> tree;
  std::vector<Amount> slots;    // [N] accelerators per node, or whole cpus in a cluster without any
  bool has_gpus = false;        // whether `slots` counts accelerators
  Amount slot_cpu = 0;          // cpu per slot, in milli
  Amount slot_memory = 0;       // memory per slot, in bytes
  Amount node_slots = 0;        // slots of the most common large node
  std::int64_t rack_nodes = 0;  // nodes of a full rack

  std::int64_t size() const { return static_cast<std::int64_t>(nodes.size()); }
  std::int64_t total_slots() const;
  // Returns the state's input without nodes: the topology and its flavor.
  ClusterStateInput Input() const;
  // Returns the columns as Kubernetes nodes, as far as columns describe them.
  std::vector<Node> Nodes() const;
};

// The name of a topology and a line on it.
struct TopologyLine {
  std::string_view name;
  std::string_view what;
};
std::vector<TopologyLine> TopologyLines();

// Makes a cluster. Errors (kBadInput): an unknown name, a number of resources that the topology
// does not come with, or fewer nodes than requested.
Result<BenchCluster> MakeBenchCluster(const TopologyChoice& choice);

}  // namespace espalier
