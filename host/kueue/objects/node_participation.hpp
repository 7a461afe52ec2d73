// Counts the nodes that workloads can be placed on, and why the others are left out.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/model/cluster.hpp"

namespace espalier {

struct NodeParticipation {
  std::size_t nodes = 0;
  std::size_t taking_part = 0;  // nodes of some flavor with a topology (R3.1, R3.2)
  // Causes for which the others are left out, and how many nodes each; a node counts once, under
  // its first cause.
  std::vector<std::pair<std::string, std::size_t>> left_out;
  // A sentence for each flavor with a topology that has no node to place on.
  std::vector<std::string> flavors_without_nodes;
};

// Nodes with the labels of a flavor that take no part, for one cause.
struct LeftOutNodes {
  std::string cause;  // such as "cordoned" or "without the label rack"
  std::vector<std::string> nodes;
  bool operator==(const LeftOutNodes&) const = default;
};

// Returns the nodes of a flavor that are left out, by their first cause, in the order of the causes
// and nodes.
std::vector<LeftOutNodes> NodesLeftOut(std::span<const Node> nodes, const ResourceFlavor& flavor,
                                       std::span<const std::string> levels);

NodeParticipation CountNodes(const Cluster& cluster);

// Returns the counts in one line, "7 of 8 nodes take part; left out: 1 not ready", and then a line
// per flavor without nodes; no newline at the end.
std::string NodeLines(const Cluster& cluster);

}  // namespace espalier
