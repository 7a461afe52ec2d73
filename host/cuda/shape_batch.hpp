// Packs shapes that the device can count without dividing, several at a time.
#pragma once

#include <span>

#include "host/cuda/device_memory.hpp"
#include "host/engine/backend.hpp"
#include "kernels/cuda/count_blocks.hpp"

namespace espalier {

// Returns whether the job's counts can be computed in a shape batch: all its numbers are within the
// exact range, and only capacity and the node filter decide.
bool FitsShapeBatch(const PlacementJob& job);

// Returns whether the job's counts above the leaves can be summed up by the classes of its state's
// leaves: there are some, they tell apart all that its requests tell apart, and only capacity and
// the node filter decide.
bool FitsClasses(const PlacementJob& job);

// Return what such a job's counts are multiplied with: the reciprocal of a request, 0 where it
// never limits, and that of the pods per slice, 0 where there are no slices on leaves.
double InverseOf(Amount request);
double SliceInverseOf(const PlacementJob& job);

// Packs a batch of 1 to kShapesPerBlock jobs for which FitsShapeBatch holds, all on one capacity.
// `shapes` is where the list of their shapes is on the device, in the order of `jobs`.
ShapeBatch PackShapeBatch(std::span<const PlacementJob* const> jobs,
                          const ResidentShape* const* shapes, CapacityView capacity,
                          Packer& packer);

}  // namespace espalier
