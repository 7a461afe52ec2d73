// Decides evaluations in order on a device, in one launch: each on the capacity that those before
// it leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/in_order_pieces.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/cuda/workspaces.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

// Memory that consecutive calls share.
struct InOrderBuffers {
  explicit InOrderBuffers(Device& device)
      : input(device), scratch(device), answers(device), received(device), shares(device) {}

  Upload input;
  DeviceMemory scratch;  // counts of all domains, shares with gaps, and what blocks tell each other
  DeviceMemory answers;
  PinnedMemory received;  // the answers
  PinnedMemory shares;
};

// Returns whether evaluations of the job may be decided in order on a device.
bool FitsInOrder(const PlacementJob& job);

// Returns a bound of the steps that an evaluation takes a thread block, in units of kMaxBlockSteps.
std::int64_t StepsInOrder(const PlacementJob& job, Count pods, const JobWork& work,
                          const InOrderExtent& extent);

// Makes the evaluations, of jobs that fit, on the state of all of them, and waits. Writes their
// answers. The mirror must be up to date with the state, which stays as it is, and there must be a
// workspace of a thread block.
DeviceResult<void> DecideInOrder(Device& device, StateMirror& mirror, const InOrderPieces& pieces,
                                 std::span<const PlacementJob> jobs,
                                 std::span<const Evaluation> asked, const Workspaces& workspaces,
                                 InOrderBuffers& buffers, PlacementColumns& answers);

}  // namespace espalier
