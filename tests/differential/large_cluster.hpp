// Clusters of 64 to 4,096 leaves, where the fast paths are, that change between questions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tests/differential/instance.hpp"
#include "tests/generated/random.hpp"

namespace espalier::differential {

// Returns a cluster of one level or several; racks of 16, 64 or 256 nodes or of any size; few kinds
// of nodes, or each its own.
ClusterStateInput GenerateLargeCluster(Random& random);

// Asks a cluster that changes in between, on one back end that goes on from what it knows. Returns
// what the engine and the oracle answered differently first, or nothing.
std::optional<std::string> CheckLargeCluster(std::uint64_t seed,
                                             const std::shared_ptr<Backend>& backend);

}  // namespace espalier::differential
