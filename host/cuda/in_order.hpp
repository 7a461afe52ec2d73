// Decides evaluations in order on a device, in one launch: each on the capacity that those before
// it leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
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

// How the tree of a state is spread over thread blocks that run together.
struct InOrderPieces {
  std::int32_t unit_level = 0;
  std::vector<std::int32_t> unit_begin;  // as in DecideInOrderArgs; empty: it does not fit
  InOrderExtent extent;
};

// Spreads a tree, which is on the host, over as many blocks as the device runs together. A block
// has whole domains of a level as coarse as possible, as long as no block has much more than
// others.
InOrderPieces SpreadInOrder(const TreeView& tree, std::int32_t columns, const Device& device);

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
