// Topology levels, requests and assignments in words a person reads at a glance.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/topology.hpp"

namespace espalier {

enum class Detail {
  kShort,  // hosts as a number
  kFull,   // hosts by name
};

// Names of a topology's levels and where its leaves are.
class TopologyNames {
 public:
  // Nodes that lack a level's label are no part of it.
  TopologyNames(const Topology& topology, std::span<const Node> nodes);

  const std::vector<std::string>& levels() const { return levels_; }  // label keys, coarsest first
  bool leaves_are_hosts() const { return !levels_.empty() && levels_.back() == kHostnameLabel; }

  // "block" for "cloud.provider.com/topology-block" where that is clear; keys that are no level
  // stay as they are.
  std::string LevelName(std::string_view key) const;

  // One value per level of the topology. An assignment whose only level is the hostname says no
  // more than that (R4.1), so the rest comes from the node; an unknown host keeps its one value.
  std::vector<std::string> FullPath(const TopologyDomainAssignment& domain) const;

 private:
  std::vector<std::string> levels_;
  std::vector<std::string> short_names_;                                    // one per level
  std::unordered_map<std::string, std::vector<std::string>> path_of_host_;  // by hostname label
};

// Names of every flavor's topology; flavors without one have the names of a topology of no level.
class NamesByFlavor {
 public:
  NamesByFlavor(std::span<const ResourceFlavor> flavors, std::span<const Topology> topologies,
                std::span<const Node> nodes);

  const TopologyNames& Of(std::string_view flavor) const;
  // For a pod set without a flavor: most clusters have one topology.
  const TopologyNames& OfFirst() const;

 private:
  std::map<std::string, TopologyNames, std::less<>> names_;
  TopologyNames none_{Topology{}, {}};
};

// "required block, 4/rack" (slices of 4 pods in one rack), "preferred rack", "unconstrained",
// "implied".
std::string RequestText(const std::optional<TopologyRequest>& request, const TopologyNames& names);

// The finest level at which all of it is in one domain; "cluster" when not even the coarsest is
// shared; "-" for no domain.
std::string ReachedLevel(const TopologyAssignment& assignment, const TopologyNames& names);

// One line per domain two levels above the hosts: "zone-a/block-3/rack-{1,2}: 8 hosts x 4", or in
// full one per rack with the hosts' names; in natural order, which need not be that of the
// assignment. At most `limit` lines; the last then says how many more there are.
std::vector<std::string> DomainLines(const TopologyAssignment& assignment,
                                     const TopologyNames& names, Detail detail, std::size_t limit);

}  // namespace espalier
