// Clusters for tests: hosts by their paths, or racks of hosts made from a description and a seed.
// One flavor on a topology whose levels are the last ones of dc, block, rack and
// kubernetes.io/hostname.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/packing/cluster_state.hpp"
#include "tests/generated/random.hpp"

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

// Returns one flavor on these levels; nodes are added by the caller.
inline ClusterStateInput OneFlavor(std::vector<std::string> levels,
                                   const std::string& flavor = "tas",
                                   const std::string& topology = "default") {
  ClusterStateInput input;
  input.topologies = {{topology, std::move(levels)}};
  input.flavors = {{flavor, {}, {}, {}, topology}};
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

// A number from `least` to `most` times `unit`; nothing is drawn where there is but one.
struct Spread {
  Spread(std::int64_t value) : least(value), most(value) {}
  Spread(std::int64_t from, std::int64_t to, std::int64_t of = 1)
      : least(from), most(to), unit(of) {}
  std::int64_t Draw(Random& random) const {
    return unit * (least == most ? least : random.Between(least, most));
  }

  std::int64_t least;
  std::int64_t most;
  std::int64_t unit = 1;
};

// An amount that so many percent of the hosts have, or have in use.
struct SpreadAmount {
  std::string resource;
  Spread amount;
  int percent = 100;
};

// Racks of hosts, and how the hosts differ.
struct Racks {
  std::string flavor = "tas";
  std::string topology = "default";
  std::size_t depth = 2;  // levels
  std::int64_t racks = 1;
  std::int64_t racks_of_block = 2;
  Spread hosts = 4;  // of each rack
  std::vector<SpreadAmount> has = {{"gpu", 8}, {"pods", 110}};
  int labelled_percent = 0;  // hosts with disk=ssd
  int tainted_percent = 0;   // hosts with reserved:NoSchedule
  int used_percent = 0;      // hosts where the flavor uses the following
  std::vector<SpreadAmount> uses;
  // Names are h00000, r00000, b00000 and d00000, so that they are in the order of their numbers.
  std::string host = "h";
  int digits = 5;
};

inline ClusterStateInput MakeRacks(const Racks& racks, Random& random) {
  constexpr std::int64_t kBlocksOfDc = 3;
  const auto chance = [&](int percent) {
    return percent >= 100 || (percent > 0 && random.Chance(percent));
  };
  const auto draw = [&](const std::vector<SpreadAmount>& spread) {
    Resources amounts;
    for (const SpreadAmount& one : spread) {
      if (chance(one.percent)) amounts.Set(one.resource, one.amount.Draw(random));
    }
    return amounts;
  };
  const auto name = [&](std::string_view prefix, std::int64_t number) {
    return fmt::format("{}{:0{}}", prefix, number, racks.digits);
  };
  ClusterStateInput input = OneFlavor(LevelKeys(racks.depth), racks.flavor, racks.topology);
  for (std::int64_t rack = 0; rack < racks.racks; ++rack) {
    const std::int64_t block = rack / racks.racks_of_block;
    for (std::int64_t left = racks.hosts.Draw(random); left > 0; --left) {
      const std::vector<std::string> path = {name("d", block / kBlocksOfDc), name("b", block),
                                             name("r", rack),
                                             name(racks.host, std::ssize(input.nodes))};
      const auto first = path.end() - static_cast<std::ptrdiff_t>(racks.depth);
      Node& node = input.nodes.emplace_back(
          HostNode(fmt::format("{}", fmt::join(first, path.end(), "/")), draw(racks.has)));
      if (chance(racks.labelled_percent)) node.labels.Set("disk", "ssd");
      if (chance(racks.tainted_percent)) node.taints = {{"reserved", "", "NoSchedule"}};
      if (chance(racks.used_percent)) {
        input.tas_usage.push_back({racks.flavor, node.name, draw(racks.uses)});
      }
    }
  }
  return input;
}

// Returns racks that are the same for the same seed, on every platform.
inline ClusterStateInput MakeRacks(const Racks& racks, std::uint64_t seed = 0) {
  Random random(seed);
  return MakeRacks(racks, random);
}

}  // namespace espalier
