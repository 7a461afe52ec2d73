#include "service/cli/commands/state_of_server.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/objects/node_participation.hpp"
#include "host/model/excerpt.hpp"
#include "host/readers/cluster_files.hpp"
#include "service/cli/reports/count_with_noun.hpp"

namespace espalier {
namespace {

std::string Levels(const std::vector<std::string>& levels) {
  return Excerpt(fmt::format("{}", fmt::join(levels, ", ")));
}

// Each flavor gets a topology of its own, as the state does not say which share one.
void TakeFlavors(const StateSummary& state, Cluster& cluster) {
  cluster.topologies.clear();
  for (const StateSummary::Flavor& flavor : state.flavors) {
    cluster.topologies.push_back({flavor.name, flavor.levels});
    ResourceFlavor& taken = cluster.flavors.emplace_back();
    taken.name = flavor.name;
    taken.topology_name = flavor.name;
  }
}

// Flavors whose Topology is not among the files get that of the state.
Result<void> CheckLevels(const StateSummary& state, const std::string& address, Cluster& cluster) {
  std::map<std::string, std::vector<std::string>, std::less<>> missing;  // levels by Topology
  const ClusterLookup lookup(cluster);
  for (const StateSummary::Flavor& held : state.flavors) {
    const ResourceFlavor* flavor = lookup.Flavor(held.name);
    if (flavor == nullptr || !flavor->topology_name) continue;
    const Topology* topology = lookup.TopologyOf(*flavor);
    if (topology == nullptr) missing.emplace(*flavor->topology_name, held.levels);
    if (topology == nullptr || topology->levels == held.levels) continue;
    return BadInput(
        fmt::format("ResourceFlavor {}: its Topology {} has the levels {} in the files "
                    "and {} in the state of {}; want the same, or --load to replace "
                    "the state",
                    Excerpt(flavor->name), Excerpt(topology->name), Levels(topology->levels),
                    Levels(held.levels), address));
  }
  for (auto& [name, levels] : missing) cluster.topologies.push_back({name, std::move(levels)});
  return {};
}

bool EndsWithHosts(const StateSummary::Flavor& flavor) {
  return !flavor.levels.empty() && flavor.levels.back() == kHostnameLabel;
}

// A state knows how many nodes each flavor has, and nothing of the others.
std::string WhyLeftOut(const StateSummary& state, const Cluster& files) {
  if (files.nodes.empty() || files.flavors.empty()) {
    return fmt::format("which nodes are left out, and why, is not known, as the files have no {}",
                       files.nodes.empty() ? "nodes" : "ResourceFlavors");
  }
  const bool same_number = static_cast<std::int64_t>(files.nodes.size()) == state.nodes;
  return (same_number ? "by the files, " : "by the files, whose nodes are others, ") +
         NodeLines(files);
}

}  // namespace

Result<std::shared_ptr<const KueueConfiguration>> ConfigurationOfState(
    const std::string& address, const std::string& state_name, const ClientTls& tls) {
  Result<RemoteEngine> remote = RemoteEngine::Connect(address, kCallTimeout, tls);
  if (!remote) return tl::unexpected(remote.error());
  remote->UseState(state_name);
  const Result<StateSummary> state = remote->UseStateOfServer();
  if (!state) return tl::unexpected(state.error());
  if (state->kueue_configuration.empty()) return nullptr;
  Result<ClusterRead> read =
      ReadClusterText(fmt::format("the state of {}", address), state->kueue_configuration);
  if (!read) return tl::unexpected(read.error());
  if (!read->cluster.configuration) return nullptr;
  return std::make_shared<const KueueConfiguration>(*std::move(read->cluster.configuration));
}

Result<std::vector<std::string>> MatchToState(const StateSummary& state, const std::string& address,
                                              Cluster& cluster) {
  if (state.generation == 0) {
    return BadInput(
        fmt::format("the server at {} holds no state to ask about; --load makes that "
                    "of the files its state",
                    address));
  }
  std::vector<std::string> notes;
  if (cluster.flavors.empty()) {
    TakeFlavors(state, cluster);
    notes.push_back(
        fmt::format("the files have no ResourceFlavor: taken from the state of {}, "
                    "which does not tell the labels and taints that pods must match",
                    address));
  } else if (auto same = CheckLevels(state, address, cluster); !same) {
    return tl::unexpected(same.error());
  }
  const auto nodes = static_cast<std::int64_t>(cluster.nodes.size());
  if (nodes > 0) {
    notes.push_back(
        fmt::format("nodes of the files only tell why nodes are left out, and their pods are not "
                    "looked at: the files have {}, the state of {} has {}; --load would replace it",
                    CountWithNoun(nodes, "node"), address, state.nodes));
  }
  return notes;
}

Result<std::vector<Node>> NodesOfState(const StateSummary& state, RemoteEngine& remote) {
  std::vector<Node> nodes;
  std::unordered_map<std::string, std::size_t> hosts;  // positions in `nodes`
  for (const StateSummary::Flavor& flavor : state.flavors) {
    auto leaves = remote.Leaves(flavor.name);
    if (!leaves) return tl::unexpected(leaves.error());
    for (std::vector<std::string>& values : *leaves) {
      std::size_t position = nodes.size();
      if (EndsWithHosts(flavor)) position = hosts.emplace(values.back(), position).first->second;
      if (position == nodes.size()) nodes.emplace_back();
      Node& node = nodes[position];
      node.name = values.back();
      node.ready = true;
      const std::size_t levels = std::min(values.size(), flavor.levels.size());
      for (std::size_t level = 0; level < levels; ++level) {
        node.labels.Set(flavor.levels[level], std::move(values[level]));
      }
    }
  }
  return nodes;
}

std::string WhyNotNodes(const StateSummary& state, const std::string& address) {
  const auto above = std::ranges::find_if_not(state.flavors, EndsWithHosts);
  if (above == state.flavors.end()) return "";
  return fmt::format(
      "the files have no nodes, and the state of {} does not tell which ones flavor {} has, as its "
      "lowest level is {}; want the nodes among the files",
      address, Excerpt(above->name),
      above->levels.empty() ? "none" : Excerpt(above->levels.back()));
}

std::string StateLines(const StateSummary& state, const std::string& address,
                       const Cluster& files) {
  std::vector<std::string> flavors;
  for (const StateSummary::Flavor& flavor : state.flavors) {
    flavors.push_back(fmt::format("{} of flavor {}", flavor.nodes, Excerpt(flavor.name)));
  }
  const std::string line = fmt::format("the state of {}, generation {}, has {}{}{}", address,
                                       state.generation, CountWithNoun(state.nodes, "node"),
                                       flavors.empty() ? "" : ": ", fmt::join(flavors, ", "));
  const auto has_all = [&](const StateSummary::Flavor& flavor) {
    return flavor.nodes == state.nodes;
  };
  if (std::ranges::any_of(state.flavors, has_all)) return line;
  return line + "\n" + WhyLeftOut(state, files);
}

}  // namespace espalier
