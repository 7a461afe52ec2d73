// Writes topology levels, requests and assignments in short texts for people.
#pragma once

#include <cstddef>
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
  kShort,  // the number of hosts
  kFull,   // the names of hosts
};

// Names of a topology's levels, and the paths of its leaves.
class TopologyNames {
 public:
  // Reads the paths of nodes; those that lack a level's label are not part of the topology.
  TopologyNames(const Topology& topology, std::span<const Node> nodes);

  const std::vector<std::string>& levels() const { return levels_; }  // label keys, coarsest first
  bool leaves_are_hosts() const { return !levels_.empty() && levels_.back() == kHostnameLabel; }

  // Returns a short name for a level, such as "block" for "cloud.provider.com/topology-block", when
  // it is unambiguous; keys that are not levels stay as they are.
  std::string LevelName(std::string_view key) const;

  // Returns one value per level of the topology. An assignment whose only level is the hostname
  // contains no more than that (R4.1), so the other values come from the node; an unknown host
  // keeps its one value.
  std::vector<std::string> FullPath(const TopologyDomainAssignment& domain) const;

 private:
  std::vector<std::string> levels_;
  std::vector<std::string> short_names_;                                    // one per level
  std::unordered_map<std::string, std::vector<std::string>> path_of_host_;  // by hostname label
};

// Names for every flavor's topology; a flavor without one has the names of a topology without
// levels.
class NamesByFlavor {
 public:
  NamesByFlavor(std::span<const ResourceFlavor> flavors, std::span<const Topology> topologies,
                std::span<const Node> nodes);

  const TopologyNames& Of(std::string_view flavor) const;
  // Returns the names for a pod set without a flavor: those of the first topology, as most clusters
  // have one.
  const TopologyNames& OfFirst() const;

 private:
  std::map<std::string, TopologyNames, std::less<>> names_;
  TopologyNames none_{Topology{}, {}};
};

// Returns a text such as "required block, 4/rack" (slices of 4 pods in one rack), "preferred rack",
// "unconstrained" or "implied".
std::string RequestText(const std::optional<TopologyRequest>& request, const TopologyNames& names);

// Returns the finest level at which the whole assignment is in one domain: "cluster" when not even
// the coarsest is shared, "-" for no domain.
std::string ReachedLevel(const TopologyAssignment& assignment, const TopologyNames& names);

// Lines of domains that a table has of a pod set, in the short form.
inline constexpr std::size_t kLinesPerPodSet = 4;

// Returns one line per domain two levels above the hosts, such as "zone-a/block-3/rack-{1,2}: 8
// hosts x 4", or with kFull one per rack with the hosts' names; in natural order, which may differ
// from that of the assignment. There are at most `limit` lines; the last then says how many more
// there are.
std::vector<std::string> DomainLines(const TopologyAssignment& assignment,
                                     const TopologyNames& names, Detail detail, std::size_t limit);

}  // namespace espalier
