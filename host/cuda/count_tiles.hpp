// Rows that the device can count without dividing, several at a time.
#pragma once

#include <span>

#include "host/cuda/device_memory.hpp"
#include "host/engine/backend.hpp"
#include "kernels/cuda/count_blocks.hpp"

namespace espalier {

// The smallest double that times `request` is at least 1. For 0 < request < kExactAmount and
// |amount| < kExactAmount, floor(amount * inverse) is floor(amount / request).
double ExactInverse(Amount request);

// Whether the job's counts can be made in a tile: all its numbers are within the exact range and
// nothing but capacity and the node filter decides.
bool FitsTile(const PlacementJob& job);

// A tile of rows that fit one, 1 to kRowsPerBlock of them on one capacity. `rows` is where they lie
// on the device, in the order of `jobs`.
CountTile PackTile(std::span<const PlacementJob* const> jobs, const CountRow* rows,
                   CapacityView capacity, Packer& packer);

}  // namespace espalier
