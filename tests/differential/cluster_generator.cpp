#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "tests/differential/generator.hpp"

namespace espalier::differential {
namespace {

Topology GenerateTopology(Random& random) {
  const std::vector<std::string> upper = {"cloud.com/zone", "cloud.com/topology-block",
                                          "cloud.com/topology-subblock", "cloud.com/topology-rack"};
  Topology topology{random.Pick({"default", "t"}), {}};
  const auto count = static_cast<std::size_t>(random.Pick({1, 1, 2, 2, 3, 3, 3, 4, 4}));
  const bool host = random.Chance(85);
  const std::size_t upper_count = host ? count - 1 : count;
  topology.levels.assign(upper.end() - static_cast<std::ptrdiff_t>(upper_count), upper.end());
  if (host) topology.levels.emplace_back(kHostnameLabel);
  return topology;
}

ResourceFlavor GenerateFlavor(Random& random, const std::string& topology) {
  ResourceFlavor flavor;
  flavor.name = "default";
  flavor.topology_name = topology;
  if (random.Chance(30)) flavor.node_labels.Set("pool", random.Chance(95) ? "tas" : "");
  if (random.Chance(15)) flavor.tolerations.push_back({"spot", "Exists", "", ""});
  return flavor;
}

// The properties that the nodes of one cluster have in common.
struct Style {
  Amount cpu = 0;
  Amount memory = 0;
  Amount gpu = 0;
  Amount pods = 0;
  int odd_percent = 0;  // nodes that differ from the common size
  int taint_percent = 0;
  int drop_percent = 0;  // nodes that do not count (R3.1, R3.2)
  int fanout = 1;
  bool unique_values = false;  // a value names its parent too
  int naming = 0;
  bool shared_hostnames = false;  // R4.4
  bool huge = false;              // amounts near the int64 limits (R1.7)
};

Style GenerateStyle(Random& random) {
  Style style;
  style.cpu = random.Pick({1000, 2000, 4000, 8000, 16000, 96000});
  style.memory = random.Pick({4, 16, 64}) * kGi;
  style.gpu = random.Pick({0, 0, 4, 8});
  style.pods = random.Pick({3, 10, 110, 110, 110});
  style.odd_percent = random.Pick({0, 10, 30, 100});
  style.taint_percent = random.Pick({0, 0, 0, 20, 50});
  style.drop_percent = random.Pick({0, 0, 10, 25});
  style.fanout = static_cast<int>(random.Between(1, 5));
  style.unique_values = random.Chance(50);
  style.naming = static_cast<int>(random.Between(0, 3));
  style.shared_hostnames = random.Chance(4);
  style.huge = random.Chance(3);
  return style;
}

std::string NodeName(Random& random, int naming, std::int64_t number) {
  switch (naming) {
    case 0:
      return fmt::format("x{}", number);
    case 1:
      return fmt::format("gke-pool-{}-{:02x}{:02}", random.Between(0, 2), random.Between(0, 255),
                         number);
    case 2:
      return fmt::format("b{}", number);  // also the name of a block (R4.2)
    default:
      return fmt::format("az1-{}-rack-{}-{:02}", random.Pick({"north", "south"}),
                         random.Pick({"a", "b"}), number);
  }
}

void SetTopologyLabels(Random& random, const Style& style, const Topology& topology, Node& node) {
  std::string parent;
  for (const std::string& level : topology.levels) {
    if (level == kHostnameLabel) continue;
    const std::int64_t index = random.Between(0, style.fanout - 1) * (style.unique_values ? 3 : 1);
    const std::string letter(1, level[level.find_last_of("/-") + 1]);
    std::string value = fmt::format("{}{}{}", letter, style.unique_values ? parent : "", index);
    if (random.Chance(1)) value = "";
    node.labels.Set(level, value);
    parent = fmt::format("{}-{}-", parent, index);
    if (parent.size() > 20) parent.clear();
  }
}

void SetOtherLabels(Random& random, Node& node) {
  if (random.Chance(60)) node.labels.Set("disk", random.Pick({"ssd", "hdd"}));
  if (random.Chance(80)) node.labels.Set("zone", random.Pick({"a", "b", "c"}));
  if (random.Chance(50)) {
    node.labels.Set("gen", random.Pick({"1", "4", "7", "10", "007", "+5", "-3", "new", ""}));
  }
}

Resources Allocatable(Random& random, const Style& style) {
  const auto odd = [&](Amount common) {
    if (!random.Chance(style.odd_percent)) return common;
    return random.Between(0, common + common / 4);
  };
  Resources allocatable;
  allocatable.Set("cpu", odd(style.cpu));
  allocatable.Set("memory", odd(style.memory));
  if (style.gpu > 0 && random.Chance(85)) allocatable.Set("nvidia.com/gpu", odd(style.gpu));
  if (random.Chance(98)) allocatable.Set("pods", odd(style.pods));
  if (style.huge) {
    const Amount most = std::numeric_limits<Amount>::max();
    allocatable.Set("memory", random.Pick({most, most - 1, most / 2, most / 3}));
  }
  return allocatable;
}

std::vector<Taint> Taints(Random& random) {
  const std::vector<Taint> all = {
      {"spot", "", "NoExecute"},       {"dedicated", "ml", "NoSchedule"},
      {"maint", "true", "NoSchedule"}, {"soft", "x", "PreferNoSchedule"},
      {"level", "5", "NoSchedule"},    {"level", "07", "NoExecute"},
      {"level", "-3", "NoSchedule"},   {"level", "-0", "NoExecute"}};
  std::vector<Taint> taints;
  for (std::int64_t i = random.Between(1, 2); i > 0; --i) taints.push_back(random.Pick(all));
  return taints;
}

void Drop(Random& random, const Topology& topology, Node& node) {
  switch (random.Between(0, 3)) {
    case 0:
      node.unschedulable = true;
      break;
    case 1:
      node.ready = false;
      break;
    case 2:
      node.labels.Set("pool", "other");
      break;
    default:
      node.labels.Erase(random.Pick(topology.levels));
  }
}

Node GenerateNode(Random& random, const Style& style, const ClusterStateInput& cluster) {
  Node node;
  node.name = NodeName(random, style.naming, std::ssize(cluster.nodes));
  node.ready = true;
  node.labels.Set("pool", "tas");
  SetTopologyLabels(random, style, cluster.topologies.front(), node);
  SetOtherLabels(random, node);
  const bool shares = style.shared_hostnames && !cluster.nodes.empty() && random.Chance(40);
  node.labels.Set(kHostnameLabel, shares ? random.Pick(cluster.nodes).name : node.name);
  node.allocatable = Allocatable(random, style);
  if (random.Chance(style.taint_percent)) node.taints = Taints(random);
  if (random.Chance(style.drop_percent)) Drop(random, cluster.topologies.front(), node);
  return node;
}

Resources Usage(Random& random, const Resources& allocatable) {
  Resources usage;
  for (const auto& [name, amount] : allocatable) {
    if (name != kPodsResource && random.Chance(70))
      usage.Set(name, random.Between(0, random.Chance(60) ? amount / 3 : amount));
  }
  usage.Set(kPodsResource, random.Between(1, 4));
  return usage;
}

void AddUsage(Random& random, ClusterStateInput& cluster) {
  const int non_tas_percent = random.Pick({0, 0, 30, 70});
  const int tas_percent = random.Pick({0, 0, 30, 70});
  std::set<std::string> used;
  for (const Node& node : cluster.nodes) {
    if (random.Chance(non_tas_percent)) {
      cluster.non_tas_usage.push_back({node.name, Usage(random, node.allocatable)});
    }
    if (!random.Chance(tas_percent)) continue;
    const std::string leaf = LeafId(node, cluster.topologies.front());
    if (leaf.empty() || !used.insert(leaf).second) continue;
    cluster.tas_usage.push_back({"default", leaf, Usage(random, node.allocatable)});
  }
  if (random.Chance(3)) cluster.tas_usage.push_back({"default", "gone", {{"cpu", 1000}}});
}

std::int64_t NodeCount(Random& random) {
  const std::int64_t percent = random.Between(1, 100);
  if (percent <= 12) return random.Between(1, 3);
  if (percent <= 65) return random.Between(4, 15);
  if (percent <= 95) return random.Between(16, 30);
  return random.Between(31, 60);
}

}  // namespace

bool IsHostTopology(const Topology& topology) { return topology.levels.back() == kHostnameLabel; }

std::vector<std::string> LevelValues(const Node& node, const Topology& topology) {
  std::vector<std::string> values;
  for (const std::string& level : topology.levels) {
    const std::string* value = node.labels.Find(level);
    values.push_back(value == nullptr ? "" : *value);
  }
  return values;
}

std::string LeafId(const Node& node, const Topology& topology) {
  const std::vector<std::string> values = LevelValues(node, topology);
  return IsHostTopology(topology) ? values.back() : fmt::format("{}", fmt::join(values, ","));
}

ClusterStateInput GenerateCluster(Random& random) {
  ClusterStateInput cluster;
  cluster.topologies = {GenerateTopology(random)};
  cluster.flavors = {GenerateFlavor(random, cluster.topologies.front().name)};
  const Style style = GenerateStyle(random);
  const std::int64_t count = random.Chance(1) ? 0 : NodeCount(random);
  for (std::int64_t i = 0; i < count; ++i) {
    cluster.nodes.push_back(GenerateNode(random, style, cluster));
  }
  random.Shuffle(cluster.nodes);
  AddUsage(random, cluster);
  return cluster;
}

}  // namespace espalier::differential
