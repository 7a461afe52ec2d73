// R7.10 to R7.12, and section 8: how much fits on every leaf and in every domain.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/oracle/cluster.hpp"
#include "tests/oracle/demand.hpp"

namespace espalier::oracle {

// State of one domain (section 8).
struct Counts {
  std::int64_t pods = 0;                // P
  std::int64_t slices = 0;              // U
  std::int64_t pods_with_leader = 0;    // PW
  std::int64_t slices_with_leader = 0;  // UW
  std::int64_t leaders = 0;             // LD
  std::int64_t affinity = 0;            // AF
};

// Every domain of every level, in path order: a domain comes right before its descendants. A clone
// of the whole tree (R14.2) is a copy of this map.
using Tree = std::map<Path, Counts>;

// Leaves that are out, by reason (R18.5, R18.7).
struct Exclusions {
  std::int64_t total_nodes = 0;
  std::int64_t node_selector = 0;
  std::int64_t affinity = 0;
  std::int64_t topology_domain = 0;
  std::map<std::string, std::int64_t> taints;
  std::map<std::string, std::int64_t> resources;
};

// The inputs of one evaluation of one request beside the request.
struct Situation {
  bool simulate_empty = false;
  bool affinity_scores_consumed = false;  // R7.9
  AssumedUsage assumed;
  std::string required_domain;  // rd, empty: anywhere (R17.5)
};

// One placement to find.
struct Problem {
  Cluster cluster;
  Demand demand;
  FeatureGates gates;
  Exclusions exclusions;

  // R9.6
  bool LeastFreeCapacity() const { return demand.unconstrained && gates.profile_mixed; }
};

// Counts of all domains before any pod is placed. Fills problem.exclusions.
Tree CountTree(Problem& problem, const Situation& situation);

// Applies R8.1 to R8.6 to one domain and everything below it, with the given INNER.
void RollUp(Tree& tree, const Problem& problem, const std::map<std::size_t, std::int64_t>& inner,
            const Path& path);

std::size_t LevelOf(const Path& path);
std::vector<Path> DomainsOfLevel(const Tree& tree, std::size_t level);  // in path order
std::vector<Path> Children(const Tree& tree, const Path& path);         // in path order
std::vector<Path> ChildrenOfAll(const Tree& tree, const std::vector<Path>& paths);
// Domains of `level` that are `path` or below it.
std::vector<Path> Descendants(const Tree& tree, const Path& path, std::size_t level);

}  // namespace espalier::oracle
