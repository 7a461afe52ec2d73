// Chooses which pods of a topology assignment leave when it shrinks (W5.2).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/model/topology.hpp"

namespace espalier {

struct ShrunkAssignment {
  TopologyAssignment staying;
  std::vector<TopologyDomainAssignment> leaving;  // the pods taken out, by domain
  bool operator==(const ShrunkAssignment&) const = default;
};

// Keeps the first `count` pods in the stored order (R16.5).
ShrunkAssignment KeepFirstPods(const TopologyAssignment& assignment, std::int64_t count);

// Keeps `count` pods such that the others leave whole domains: from the coarsest level to the
// finest, whole domains leave as long as there are pods to take out, those with the fewest pods
// first and of equal ones the last in path order; the rest leaves the leaf with the fewest pods.
// `paths`: the values of all levels of the topology, per domain of the assignment. `slice_levels`:
// positions of the levels at which slices are kept together; only one domain of such a level loses
// a part of its pods, so that the slices of all others stay whole.
ShrunkAssignment KeepWholeDomains(const TopologyAssignment& assignment, std::int64_t count,
                                  std::span<const std::vector<std::string>> paths,
                                  std::span<const std::size_t> slice_levels);

}  // namespace espalier
