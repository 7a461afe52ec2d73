// Seeded random clusters and nested gangs.
#pragma once

#include <cstdint>
#include <vector>

#include "host/engine/nested_request.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier::differential {

struct NestedInstance {
  ClusterStateInput cluster;  // one topology, one flavor
  std::vector<NestedRequest> requests;
  NestedProfile profile = NestedProfile::kEspalier;
};

// Returns an instance; the same seed gives the same one on every platform. The requests are sound
// (R25.15).
NestedInstance GenerateNested(std::uint64_t seed);

}  // namespace espalier::differential
