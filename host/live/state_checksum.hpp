// Computes checksums that tell contents of states apart, however they came about.
#pragma once

#include <cstdint>

#include "host/live/admitted_usage.hpp"
#include "host/live/hold.hpp"
#include "host/model/kueue_configuration.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Returns a 64-bit hash of an object's contents. The checksum of a state is the sum of those of its
// objects: it does not depend on their order, and follows a change by a subtraction and an
// addition. Usage counts by its amounts that are not 0; without any it has the checksum 0.
std::uint64_t ChecksumOf(const Node& node);
std::uint64_t ChecksumOf(const NodeUsage& usage);
std::uint64_t ChecksumOf(const FlavorLeafUsage& usage);
std::uint64_t ChecksumOf(const Topology& topology);
std::uint64_t ChecksumOf(const ResourceFlavor& flavor);
// Returns the checksum of a workload, which must be as InOrder returns it.
std::uint64_t ChecksumOf(const AdmittedUsage& workload);
// Returns the checksum of what a hold holds for whom. Its owner and its times change no answer, and
// are not the same in two servers: they do not count.
std::uint64_t ChecksumOf(const Hold& hold);

// Returns the checksum of what is beside the objects.
std::uint64_t ChecksumOf(const KueueConfiguration& configuration);

// Returns the checksum of a whole state. Usage of one key must be in one entry.
std::uint64_t ChecksumOf(const ClusterStateInput& input);
// Returns the part of it that depends on share_usage_between_flavors.
std::uint64_t ChecksumOfSharing(bool share_usage_between_flavors);

}  // namespace espalier
