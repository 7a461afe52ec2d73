#include "bench/scenarios/topologies.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bench/scenarios/columns_builder.hpp"
#include "host/model/splitmix64.hpp"

namespace espalier {
namespace {

constexpr const char* kTier[] = {"fabric.topograph.run/tier-1", "fabric.topograph.run/tier-2",
                                 "fabric.topograph.run/tier-3"};

// The resources that one node offers.
struct NodeVector {
  Amount cpu = 0;     // milli
  Amount memory = 0;  // MiB
  Amount gpus = 0;
  Amount pods = 110;
};

struct NamedAmount {
  std::string name;
  Amount amount = 0;
};

// Returns what a cluster of R resources has beside the four of NodeVector. Requests are small
// multiples of a unit, so that no extra resource alone fills a node before its accelerators do.
std::vector<NamedAmount> Extras(int resources) {
  std::vector<NamedAmount> extras;
  if (resources >= 8) {
    extras = {{"ephemeral-storage", 32 * 100 * 1024 * kMebibyte},
              {"example.com/fpga", 32},
              {"hugepages-2Mi", 32 * 1024 * kMebibyte},
              {"rdma/hca", 32}};
  }
  for (int i = 0; static_cast<int>(extras.size()) < resources - 4; ++i) {
    extras.push_back({fmt::format("example.com/extra-{:02}", i), 32});
  }
  return extras;
}

// Nodes of one cluster on their way into columns.
class NodeRows {
 public:
  NodeRows(std::vector<TreeLevel> levels, std::vector<NamedAmount> extras, bool gpus)
      : levels_(std::move(levels)),
        extras_(std::move(extras)),
        gpus_(gpus),
        columns_(LevelsOf(levels_), ResourcesOf(extras_, gpus)) {}

  void Add(std::span<const std::int64_t> path, const NodeVector& node, bool available = true) {
    row_ = {node.cpu, node.memory * kMebibyte, node.pods};
    if (gpus_) row_.push_back(node.gpus);
    for (const NamedAmount& extra : extras_) row_.push_back(extra.amount);
    columns_.AddNode(path, row_, available);
    cluster_.slots.push_back(gpus_ ? node.gpus : node.cpu / 1000);
  }

  ColumnsBuilder& columns() { return columns_; }

  // `usual` is what the cluster's large nodes look like.
  BenchCluster Finish(const NodeVector& usual) && {
    cluster_.nodes = std::move(columns_).Finish();
    for (const TreeLevel& level : levels_) cluster_.levels.push_back(level.key);
    cluster_.has_gpus = gpus_;
    cluster_.rack_nodes = levels_.back().fanout;
    if (gpus_) {
      // Pods with accelerators usually leave room for agents, so slots do not fill a node.
      cluster_.node_slots = usual.gpus;
      cluster_.slot_cpu = usual.cpu / usual.gpus * 2 / 3;
      cluster_.slot_memory = usual.memory * kMebibyte / usual.gpus / 2;
    } else {
      cluster_.node_slots = usual.cpu / 1000;
      cluster_.slot_cpu = 1000;
      cluster_.slot_memory = usual.memory * kMebibyte / cluster_.node_slots;
    }
    return std::move(cluster_);
  }

 private:
  static std::vector<ColumnsBuilder::Level> LevelsOf(const std::vector<TreeLevel>& levels) {
    std::vector<ColumnsBuilder::Level> out;
    for (const TreeLevel& level : levels) out.push_back({level.key, level.prefix});
    return out;
  }
  static std::vector<std::string> ResourcesOf(const std::vector<NamedAmount>& extras, bool gpus) {
    std::vector<std::string> names = {"cpu", "memory", std::string(kPodsResource)};
    if (gpus) names.emplace_back(kGpuResource);
    for (const NamedAmount& extra : extras) names.push_back(extra.name);
    return names;
  }

  std::vector<TreeLevel> levels_;
  std::vector<NamedAmount> extras_;
  bool gpus_;
  BenchCluster cluster_;
  ColumnsBuilder columns_;
  std::vector<Amount> row_;
};

// Numbers along the path of node k of a full tree: under their parents, the node's own overall.
void TreePath(const std::vector<TreeLevel>& levels, std::int64_t k,
              std::vector<std::int64_t>& path) {
  path.resize(levels.size());
  path.back() = k;
  std::int64_t index = k / levels.back().fanout;
  for (std::size_t level = levels.size() - 1; level-- > 0;) {
    path[level] = index % levels[level].fanout;
    index /= levels[level].fanout;
  }
}

std::int64_t Product(const std::vector<TreeLevel>& levels) {
  return std::accumulate(levels.begin(), levels.end(), std::int64_t{1},
                         [](std::int64_t n, const TreeLevel& level) { return n * level.fanout; });
}

TreeLevel Hosts(std::int64_t fanout) { return {std::string(kHostnameLabel), "n", fanout}; }

// A full tree of equal nodes, cut after `nodes` of them unless that is 0.
struct TreeDesign {
  std::vector<TreeLevel> levels;
  NodeVector node;
  std::vector<NamedAmount> extras;
  std::int64_t nodes = 0;
};

BenchCluster MakeTree(const TreeDesign& design) {
  const std::int64_t all = Product(design.levels);
  const std::int64_t count = design.nodes > 0 ? std::min(design.nodes, all) : all;
  NodeRows rows(design.levels, design.extras, design.node.gpus > 0);
  std::vector<std::int64_t> path;
  for (std::int64_t k = 0; k < count; ++k) {
    TreePath(design.levels, k, path);
    rows.Add(path, design.node);
  }
  BenchCluster cluster = std::move(rows).Finish(design.node);
  if (count == all) cluster.tree = design.levels;
  return cluster;
}

std::vector<TreeLevel> LargeTree(std::int64_t zones) {
  return {{"cloud.com/zone", "z", zones},
          {"cloud.com/topology-block", "b", 16},
          {"cloud.com/topology-row", "w", 16},
          {"cloud.com/topology-rack", "r", 16},
          Hosts(16)};
}

constexpr NodeVector kLargeNode = {.cpu = 192000, .memory = 2097152, .gpus = 8};

TreeDesign KueueTree(std::int64_t racks, std::int64_t hosts, NodeVector node) {
  return {{{"cloud.provider.com/topology-block", "b", 10},
           {"cloud.provider.com/topology-rack", "r", racks},
           Hosts(hosts)},
          node,
          {},
          0};
}

// Blocks of 31 nodes dealt to eight groups, 28 small resources beside cpu and memory.
BenchCluster MakeKueue1000() {
  const std::vector<TreeLevel> levels = {{"cloud.com/topology-block", "b", 33}, Hosts(31)};
  const NodeVector node = {.cpu = 10000, .memory = 102400};
  std::vector<NamedAmount> extras;
  for (int i = 0; i < 28; ++i) extras.push_back({fmt::format("example.com/extra-{:02}", i), 10});
  NodeRows rows(levels, extras, false);
  std::vector<std::int64_t> path;
  for (std::int64_t k = 0; k < 1000; ++k) {
    TreePath(levels, k, path);
    rows.Add(path, node);
    rows.columns().AddLabel(std::string(kNodeGroupLabel), fmt::format("group-{}", k % 8));
  }
  return std::move(rows).Finish(node);
}

// Ten areas, 90 groups, 500 groups of twelve, 3,000 pairs and 6,000 hosts: 9,600 domains. 500 is
// no multiple of 90, so the groups of twelve are spread as evenly as integers allow.
BenchCluster MakeVolcano6000() {
  const std::vector<TreeLevel> levels = {{"volcano.sh/tier-5", "area-", 0},
                                         {"volcano.sh/tier-4", "group-", 0},
                                         {"volcano.sh/tier-3", "twelve-", 0},
                                         {"volcano.sh/tier-2", "pair-", 0},
                                         Hosts(2)};
  const NodeVector node = {.cpu = 96000, .memory = 1048576, .gpus = 8};
  NodeRows rows(levels, {}, true);
  for (std::int64_t k = 0; k < 6000; ++k) {
    const std::int64_t twelve = k / 12;
    const std::int64_t group = twelve * 90 / 500;
    rows.Add(std::array{group / 9, group, twelve, k / 2, k}, node);
  }
  return std::move(rows).Finish(node);
}

struct NodeKind {
  std::int64_t count = 0;
  NodeVector node;
  std::string model;
};

// Nodes of several kinds, dealt in seed order into racks and blocks.
BenchCluster MakeMixed(const std::vector<NodeKind>& kinds, std::int64_t rack, std::int64_t block,
                       std::uint64_t seed) {
  std::vector<const NodeKind*> deck;
  for (const NodeKind& kind : kinds) {
    deck.insert(deck.end(), static_cast<std::size_t>(kind.count), &kind);
  }
  SplitMix64 random(seed);
  for (std::size_t i = deck.size(); i > 1; --i) {
    std::swap(deck[i - 1],
              deck[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(i)))]);
  }
  const std::vector<TreeLevel> levels = {{"example.com/topology-block", "b", 0},
                                         {"example.com/topology-rack", "r", block},
                                         Hosts(rack)};
  NodeRows rows(levels, {}, true);
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(deck.size()); ++k) {
    const NodeKind& kind = *deck[static_cast<std::size_t>(k)];
    rows.Add(std::array{k / (rack * block), k / rack % block, k}, kind.node);
    if (!kind.model.empty()) rows.columns().AddLabel(std::string(kGpuModelLabel), kind.model);
  }
  return std::move(rows).Finish({.cpu = 96000, .memory = 393216, .gpus = 8});
}

// The four largest shapes are those of the trace, the others rebuilt to its totals: 1,523 nodes,
// 310 of them without a GPU, and 6,212 GPUs.
BenchCluster MakeOpenb(std::uint64_t seed) {
  return MakeMixed({{549, {96000, 393216, 8}, "G2"},
                    {387, {104000, 524288, 2}, "T4"},
                    {129, {32000, 262144, 0}, ""},
                    {107, {16000, 122880, 2}, "P100"},
                    {100, {64000, 262144, 0}, ""},
                    {81, {94000, 385024, 0}, ""},
                    {39, {128000, 786432, 8}, "G3"},
                    {25, {96000, 393216, 8}, "V100M32"},
                    {1, {48000, 196608, 4}, "V100M32"},
                    {22, {64000, 262144, 8}, "V100M16"},
                    {19, {8000, 61440, 1}, "V100M16"},
                    {34, {48000, 196608, 2}, "T4"},
                    {22, {16000, 122880, 2}, "P100"},
                    {7, {8000, 61440, 1}, "P100"},
                    {1, {16000, 122880, 2}, "A10"}},
                   16, 8, seed);
}

// GPU models, GPUs and cpus per node as the trace counts them; which go together is ours.
BenchCluster MakeSpot(std::uint64_t seed) {
  return MakeMixed({{2494, {128000, 524288, 1}, "A10"},
                    {453, {128000, 524288, 1}, "GPU-series-1"},
                    {449, {192000, 524288, 1}, "GPU-series-1"},
                    {77, {192000, 1048576, 8}, "GPU-series-1"},
                    {10, {192000, 1048576, 4}, "GPU-series-1"},
                    {432, {192000, 1048576, 8}, "A100"},
                    {219, {192000, 2097152, 8}, "H800"},
                    {122, {192000, 1048576, 8}, "GPU-series-2"},
                    {22, {192000, 1048576, 8}, "A800"}},
                   20, 10, seed);
}

// T-131K as clusters really are: 3 % of the nodes lack the label of a level, 5 % of the racks are
// short, 1 % of them have no node that is ready.
BenchCluster MakeRagged(int resources, std::uint64_t seed) {
  const std::vector<TreeLevel> levels = LargeTree(2);
  NodeRows rows(levels, Extras(resources), true);
  SplitMix64 random(seed);
  std::vector<std::int64_t> path;
  const std::int64_t hosts = levels.back().fanout;
  for (std::int64_t rack = 0; rack < Product(levels) / hosts; ++rack) {
    const std::int64_t dice = random.Below(100);
    const std::int64_t kept = dice < 5 ? random.Between(1, hosts - 1) : hosts;
    const bool ready = dice != 5;
    for (std::int64_t host = 0; host < kept; ++host) {
      TreePath(levels, rack * hosts + host, path);
      if (random.Below(100) < 3) {
        path[static_cast<std::size_t>(random.Below(static_cast<std::int64_t>(levels.size()) - 1))] =
            -1;
      }
      rows.Add(path, kLargeNode, ready);
    }
  }
  return std::move(rows).Finish(kLargeNode);
}

struct TopologyEntry {
  TopologyLine line;
  bool many_resources;  // comes with 8 and 30 resources too
  std::function<BenchCluster(const TopologyChoice&)> make;
};

std::function<BenchCluster(const TopologyChoice&)> Tree(std::vector<TreeLevel> levels,
                                                        NodeVector node) {
  return [design = TreeDesign{std::move(levels), node, {}, 0}](const TopologyChoice& choice) {
    TreeDesign cut = design;
    cut.nodes = choice.nodes;
    cut.extras = Extras(choice.resources);
    return MakeTree(cut);
  };
}

const std::vector<TopologyEntry>& TopologyEntries() {
  static const std::vector<TopologyEntry> entries = {
      {{"T-KUEUE640", "1 block x 10 racks x 64 hosts of 96 cpus"},
       false,
       Tree({{"cloud.provider.com/topology-block", "b", 1},
             {"cloud.provider.com/topology-rack", "r", 10},
             Hosts(64)},
            {.cpu = 96000, .memory = 262144})},
      {{"T-KUEUE2500", "blocks of 16 racks x 16 hosts of 96 cpus, the last ones ragged"},
       false,
       [](const TopologyChoice& choice) {
         TreeDesign design = KueueTree(16, 16, {.cpu = 96000, .memory = 393216});
         design.nodes = choice.nodes > 0 ? choice.nodes : 2500;
         return MakeTree(design);
       }},
      {{"T-KUEUE1000R30", "blocks of 31 hosts of 10 cpus, 8 node groups, 28 extra resources"},
       false,
       [](const TopologyChoice&) { return MakeKueue1000(); }},
      {{"T-K8S5000", "50 racks x 100 hosts of 32 cpus"},
       false,
       Tree({{"cloud.com/topology-rack", "r", 50}, Hosts(100)}, {.cpu = 32000, .memory = 131072})},
      {{"T-KAI512", "4 zones x 8 blocks x 8 racks x 2 hosts of 8 GPUs"},
       false,
       Tree({{"cloud.provider.com/topology-zone", "z", 4},
             {"cloud.provider.com/topology-block", "b", 8},
             {"cloud.provider.com/topology-rack", "r", 8},
             Hosts(2)},
            {.cpu = 32000, .memory = 262144, .gpus = 8})},
      {{"T-FLAT1000", "25 racks x 40 hosts of 32 cpus"},
       false,
       Tree({{"cloud.com/topology-rack", "r", 25}, Hosts(40)}, {.cpu = 32000, .memory = 262144})},
      {{"T-RACKS10", "100 racks x 10 hosts of 8 GPUs; usually cut to 500 hosts"},
       false,
       Tree({{"cloud.provider.com/topology-rack", "r", 100}, Hosts(10)},
            {.cpu = 32000, .memory = 262144, .gpus = 8})},
      {{"T-VOLC1000", "100 tier-1 domains x 10 hosts of 32 cpus"},
       false,
       Tree({{"volcano.sh/tier-1", "t", 100}, Hosts(10)}, {.cpu = 32000, .memory = 262144})},
      {{"T-VOLC6000", "5 tiers, 9,600 domains, 6,000 hosts of 8 GPUs; fan-outs are ours"},
       false,
       [](const TopologyChoice&) { return MakeVolcano6000(); }},
      {{"T-META24K", "8 pods x 192 racks x 2 hosts of 8 GPUs"},
       false,
       Tree({{kTier[1], "p", 8}, {kTier[0], "r", 192}, Hosts(2)}, kLargeNode)},
      {{"T-DGXB200", "64 scalable units x 32 hosts of 8 GPUs"},
       false,
       Tree({{kTier[0], "su", 64}, Hosts(32)}, kLargeNode)},
      {{"T-NVL72-9K", "16 scalable units x 8 racks x 18 hosts of 4 GPUs"},
       false,
       Tree({{kTier[0], "su", 16}, {"nvidia.com/gpu.clique", "c", 8}, Hosts(18)},
            {.cpu = 144000, .memory = 983040, .gpus = 4})},
      {{"T-NVL72-129K", "4 halls x 56 scalable units x 8 racks x 18 hosts of 4 GPUs"},
       false,
       Tree({{"cloud.com/hall", "h", 4},
             {"cloud.google.com/gce-topology-block", "su", 56},
             {"cloud.google.com/gce-topology-subblock", "r", 8},
             Hosts(18)},
            {.cpu = 144000, .memory = 983040, .gpus = 4})},
      {{"T-XAI100K", "196 arrays x 8 racks x 8 hosts of 8 GPUs"},
       false,
       Tree({{kTier[1], "a", 196}, {kTier[0], "r", 8}, Hosts(8)}, kLargeNode)},
      {{"T-AWS100K", "8 x 25 x 20 network nodes x 25 hosts of 8 GPUs; fan-outs are ours"},
       false,
       [](const TopologyChoice& choice) {
         return MakeTree({{{"topology.k8s.aws/network-node-layer-1", "nn1-", 8},
                           {"topology.k8s.aws/network-node-layer-2", "nn2-", 25},
                           {"topology.k8s.aws/network-node-layer-3", "nn3-", 20},
                           Hosts(25)},
                          {.cpu = 192000, .memory = 2097152, .gpus = 8, .pods = 250},
                          {{"vpc.amazonaws.com/efa", 32}},
                          choice.nodes});
       }},
      {{"T-131K", "2 zones x 16 blocks x 16 rows x 16 racks x 16 hosts of 8 GPUs"},
       true,
       Tree(LargeTree(2), kLargeNode)},
      {{"T-1M", "T-131K with 16 zones; usually cut to the first so many nodes"},
       true,
       Tree(LargeTree(16), kLargeNode)},
      {{"T-OPENB", "1,523 nodes of mixed shapes in racks of 16 and blocks of 8 racks"},
       false,
       [](const TopologyChoice& choice) { return MakeOpenb(choice.seed); }},
      {{"T-SPOT4278", "4,278 nodes of mixed GPUs in racks of 20 and blocks of 10 racks"},
       false,
       [](const TopologyChoice& choice) { return MakeSpot(choice.seed); }},
      {{"T-RAGGED", "T-131K with missing labels, short and empty racks"},
       true,
       [](const TopologyChoice& choice) { return MakeRagged(choice.resources, choice.seed); }},
  };
  return entries;
}

}  // namespace

std::int64_t BenchCluster::total_slots() const {
  return std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
}

ClusterStateInput BenchCluster::Input() const {
  ClusterStateInput input;
  input.topologies.push_back({std::string(kBenchTopology), levels});
  ResourceFlavor& flavor = input.flavors.emplace_back();
  flavor.name = kBenchFlavor;
  flavor.topology_name = kBenchTopology;
  return input;
}

std::vector<Node> BenchCluster::Nodes() const {
  std::vector<Node> objects(nodes.size());
  for (std::size_t i = 0; i < objects.size(); ++i) {
    Node& node = objects[i];
    node.name = nodes.names[i];
    node.ready = nodes.available[i] != 0;
    node.taints = nodes.taint_sets[static_cast<std::size_t>(nodes.taint_set_of[i])];
    for (const LabelColumn& label : nodes.labels) {
      const std::int32_t value = label.value_of[i];
      if (value >= 0) node.labels.Set(label.key, label.values[static_cast<std::size_t>(value)]);
    }
    for (std::size_t r = 0; r < nodes.resources.size(); ++r) {
      node.allocatable.Set(nodes.resources[r], nodes.allocatable[r * nodes.size() + i]);
    }
  }
  return objects;
}

std::vector<TopologyLine> TopologyLines() {
  std::vector<TopologyLine> lines;
  for (const TopologyEntry& entry : TopologyEntries()) lines.push_back(entry.line);
  return lines;
}

Result<BenchCluster> MakeBenchCluster(const TopologyChoice& choice) {
  const auto entry = std::ranges::find(TopologyEntries(), std::string_view(choice.name),
                                       [](const TopologyEntry& e) { return e.line.name; });
  if (entry == TopologyEntries().end()) {
    std::string names;
    for (const TopologyLine& line : TopologyLines()) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", line.name);
    }
    return BadInput(fmt::format("there is no topology \"{}\"; there are {}", choice.name, names));
  }
  const bool known = choice.resources == 4 ||
                     (entry->many_resources && (choice.resources == 8 || choice.resources == 30));
  if (!known) {
    return BadInput(fmt::format(
        "topology {} does not come with {} resources; {}", choice.name, choice.resources,
        entry->many_resources ? "4, 8 or 30 are possible" : "leave it at 4"));
  }
  BenchCluster cluster = entry->make(choice);
  if (choice.nodes > 0 && cluster.size() != choice.nodes) {
    return BadInput(
        fmt::format("topology {} cannot be cut to {} nodes", choice.name, choice.nodes));
  }
  cluster.name = choice.name;
  return cluster;
}

}  // namespace espalier
