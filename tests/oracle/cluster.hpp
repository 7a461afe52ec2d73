// Sections 3 to 5: the nodes of a flavor, the topology tree and the capacity ledger.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/oracle/oracle.hpp"

namespace espalier::oracle {

// A domain is its level values, root first (R1.2, R4.3). The order of paths is the path order
// (R9.1), and the level of a domain is the length of its path minus one.
using Path = std::vector<std::string>;

// A resource vector; a missing resource reads as 0.
using Vector = std::map<std::string, Amount>;

// Usage assumed during one evaluation, per leaf id (R5.8).
using AssumedUsage = std::map<std::string, Vector>;

struct Leaf {
  Node node;  // represents the leaf; used in host topologies only (R4.4, R4.5)
  Vector free;
  Vector tas;
};

struct Cluster {
  std::string topology_name;
  std::vector<std::string> levels;
  std::map<Path, Leaf> leaves;

  bool IsHostTopology() const { return levels.back() == kHostnameLabel; }  // R1.1
  std::size_t LowestLevel() const { return levels.size() - 1; }
  std::optional<std::size_t> LevelOf(const std::string& key) const;
  std::string DomainId(const Path& path) const;  // R4.1
  std::optional<Path> FindLeaf(const std::string& id) const;
};

// Sections 3 and 4, and R5.1 to R5.6.
Cluster BuildCluster(const OracleInput& input);

std::string JoinWithComma(const std::vector<std::string>& values);

// Return a + b * times and a - b * times, element-wise and saturating (R1.7).
Vector Plus(Vector a, const Vector& b, Amount times = 1);
Vector Minus(Vector a, const Vector& b);
Vector ToVector(const Resources& resources);

// Returns what is left on a leaf before assumed usage and after (R5.1, R5.8).
Vector Remaining(const Cluster& cluster, const Path& path, bool simulate_empty,
                 const AssumedUsage& assumed);

// FITS, and the resource that limits it (R5.9, R5.10).
struct Fit {
  Amount pods = 0;
  std::string limiting_resource;
};
Fit Fits(const Vector& requests, const Vector& remaining);

}  // namespace espalier::oracle
