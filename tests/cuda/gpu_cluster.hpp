// A cluster of GPU nodes and a queue of gangs, large enough to need several blocks of every kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Returns blocks x racks x hosts nodes of 8 GPUs, most of them partly used; one flavor, "gpu".
ClusterStateInput MakeGpuCluster(int blocks, int racks, int hosts, std::uint64_t seed);

// Returns `count` workloads of a few dozen shapes: required, preferred and unconstrained, slices,
// leaders, two pod sets, node selectors and preferred affinity; some too large for any cluster.
std::vector<WorkloadRequest> MakeGangs(int count, std::uint64_t seed);

}  // namespace espalier
