#include "tests/oracle/cluster.hpp"

#include <algorithm>
#include <limits>

namespace espalier::oracle {
namespace {

// --- R3.1 ----------------------------------------------------------------------------------------

bool IsAvailable(const Node& node) { return !node.unschedulable && node.ready; }

// --- R3.2 ----------------------------------------------------------------------------------------

bool BelongsToFlavor(const Node& node, const OracleInput& input) {
  for (const auto& [key, value] : input.flavor.node_labels) {
    const std::string* label = node.labels.Find(key);
    if ((label == nullptr ? std::string() : *label) != value) return false;
  }
  for (const std::string& level : input.topology.levels) {
    if (!node.labels.Contains(level)) return false;
  }
  return true;
}

Path PathOf(const Node& node, const Topology& topology) {
  Path path;
  for (const std::string& level : topology.levels) path.push_back(*node.labels.Find(level));
  return path;
}

}  // namespace

std::string JoinWithComma(const std::vector<std::string>& values) {
  std::string joined;
  for (std::size_t i = 0; i < values.size(); ++i) joined += (i == 0 ? "" : ",") + values[i];
  return joined;
}

Vector Plus(Vector a, const Vector& b, Amount times) {
  for (const auto& [name, amount] : b) {
    a[name] = SaturatingAdd(a[name], SaturatingMultiply(amount, times));
  }
  return a;
}

Vector Minus(Vector a, const Vector& b) {
  for (const auto& [name, amount] : b) a[name] = SaturatingSubtract(a[name], amount);
  return a;
}

Vector ToVector(const Resources& resources) { return {resources.begin(), resources.end()}; }

// --- R4.1, R4.2 ----------------------------------------------------------------------------------

std::optional<std::size_t> Cluster::LevelOf(const std::string& key) const {
  const auto it = std::find(levels.begin(), levels.end(), key);
  if (it == levels.end()) return std::nullopt;
  return static_cast<std::size_t>(it - levels.begin());
}

std::string Cluster::DomainId(const Path& path) const {
  const bool is_leaf = path.size() == levels.size();
  return is_leaf && IsHostTopology() ? path.back() : JoinWithComma(path);
}

std::optional<Path> Cluster::FindLeaf(const std::string& id) const {
  for (const auto& [path, leaf] : leaves) {
    if (DomainId(path) == id) return path;
  }
  return std::nullopt;
}

// --- R4.4 to R4.8, R5.1 to R5.6 ------------------------------------------------------------------

Cluster BuildCluster(const OracleInput& input) {
  Cluster cluster{input.topology.name, input.topology.levels, {}};

  std::vector<Node> nodes;
  for (const Node& node : input.nodes) {
    if (IsAvailable(node) && BelongsToFlavor(node, input)) nodes.push_back(node);
  }
  // The node with the smallest name represents a leaf that several nodes share (R4.4).
  std::sort(nodes.begin(), nodes.end(),
            [](const Node& a, const Node& b) { return a.name < b.name; });

  std::map<std::string, Path> path_of_id;
  for (const Node& node : nodes) {
    const Path path = PathOf(node, input.topology);
    const auto [it, is_new] = path_of_id.emplace(cluster.DomainId(path), path);
    Leaf& leaf = cluster.leaves[it->second];
    if (is_new) leaf.node = node;
    leaf.free = Plus(leaf.free, ToVector(node.allocatable));
  }
  for (const Node& node : nodes) {
    const auto usage = input.non_tas_usage.find(node.name);
    if (usage == input.non_tas_usage.end()) continue;
    Leaf& leaf = cluster.leaves[path_of_id.at(cluster.DomainId(PathOf(node, input.topology)))];
    leaf.free = Minus(leaf.free, ToVector(usage->second));
  }
  for (const auto& [id, usage] : input.tas_usage) {
    const auto path = path_of_id.find(id);
    if (path != path_of_id.end()) cluster.leaves[path->second].tas = ToVector(usage);
  }
  return cluster;
}

// --- R5.1, R5.8 ----------------------------------------------------------------------------------

Vector Remaining(const Cluster& cluster, const Path& path, bool simulate_empty,
                 const AssumedUsage& assumed) {
  const Leaf& leaf = cluster.leaves.at(path);
  Vector remaining = simulate_empty ? leaf.free : Minus(leaf.free, leaf.tas);
  const auto it = assumed.find(cluster.DomainId(path));
  return it == assumed.end() ? remaining : Minus(remaining, it->second);
}

// --- R5.9, R5.10 ---------------------------------------------------------------------------------

namespace {

Amount FitsOne(Amount request, Amount remaining) {
  constexpr Amount kMost = std::numeric_limits<std::int32_t>::max();
  if (request == 0) return kMost;
  if (request == -1 && remaining == std::numeric_limits<Amount>::min()) return 0;  // it wraps
  return std::clamp(remaining / request, Amount{0}, kMost);
}

}  // namespace

Fit Fits(const Vector& requests, const Vector& remaining) {
  if (requests.empty()) return {};
  Fit fit{std::numeric_limits<Amount>::max(), ""};
  for (const auto& [name, request] : requests) {  // by name, so the smallest name wins a tie
    const auto it = remaining.find(name);
    const Amount pods = FitsOne(request, it == remaining.end() ? 0 : it->second);
    if (pods < fit.pods) fit = {pods, name};
  }
  return fit;
}

}  // namespace espalier::oracle
