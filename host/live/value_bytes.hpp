// Tells about how much memory the values of a state take.
#pragma once

#include <cstdint>

#include "host/live/admitted_usage.hpp"
#include "host/live/hold.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Returns about how many bytes a value takes: what it holds, and its entry in an index; of
// workloads and holds also what the index of leaves has of them.
std::int64_t BytesOf(const Node& node);
std::int64_t BytesOf(const NodeUsage& usage);
std::int64_t BytesOf(const FlavorLeafUsage& usage);
std::int64_t BytesOf(const Topology& topology);
std::int64_t BytesOf(const ResourceFlavor& flavor);
std::int64_t BytesOf(const AdmittedUsage& workload);
std::int64_t BytesOf(const Hold& hold);

}  // namespace espalier
