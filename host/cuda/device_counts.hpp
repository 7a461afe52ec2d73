// Rolled-up counts of one shape on one state in the memory of a device, and a cache of them within
// a memory limit. Counts of leaves are kept only where decisions read them all; otherwise the
// decisions count the leaves that they reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/counts_key.hpp"
#include "host/model/lru_by_bytes.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The counts of one shape on one state, or on one that it is a branch of. Not thread-safe.
struct DeviceCounts {
  // Makes counts without arrays.
  DeviceCounts(Device& device, const PlacementJob& job)
      : shape(job.shape),
        memory(device),
        leaves_stored(NeedsLeaves(job)),
        domains(job.state->snapshot().domain_count()),
        leaves(job.state->snapshot().leaf_count()) {}

  // Returns whether they are of all domains whose counts the job must find.
  bool Suffice(const PlacementJob& job) const { return leaves_stored || !NeedsLeaves(job); }

  // Returns whether they are those of the job's state as it is now.
  bool IsCurrent(const PlacementJob& job) const {
    return counted_on.get() == &StampsOf(job) && made_at == counted_on->latest();
  }

  // Lays out all arrays that the job needs, and indices of the levels for what decides on them.
  void LayOut(const PlacementJob& job, bool indexed, Packer& packer);
  // Does so in `memory`, with indices.
  DeviceResult<void> Allocate(const PlacementJob& job);

  std::shared_ptr<const PodShape> shape;  // keeps the address in the key from being reused
  DeviceMemory memory;
  CountsView view;  // the arrays
  bool leaves_stored = false;
  std::int32_t domains = 0;  // of the tree
  std::int32_t leaves = 0;
  std::shared_ptr<const GroupStamps> counted_on;  // of the capacity that was counted; null: none
  Stamp made_at = 0;                              // the latest of them at the time
};

// Lays out arrays for counts; those of slices and of the leader only when they differ from their
// twins.
CountsView LayOutCounts(std::size_t domains, bool slices, bool leader, Packer& packer);

// Returns whether counts made for the job may serve others. Those that assume usage of one job, or
// leave out leaves, serve only that job.
bool SharesCounts(const PlacementJob& job);

// A cache of counts, by key. Not thread-safe.
class DeviceCountsCache {
 public:
  DeviceCountsCache(Device& device, std::size_t max_bytes) : device_(&device), slots_(max_bytes) {}

  // Returns the counts for a job: those that are there, those of another branch of the state that
  // no longer exists, or new ones. Drops counts of the states that were the last to be asked for
  // eight states ago and no longer exist, and others when memory runs short, the least recently
  // used ones first. The memory of counts lives as long as anybody holds them.
  DeviceResult<std::shared_ptr<DeviceCounts>> Get(const PlacementJob& job);

 private:
  // States whose counts another branch may take over.
  static constexpr std::size_t kMaxStates = 8;

  struct Slot {
    std::shared_ptr<const GroupStamps> stamps;  // of the state; frozen when it is destroyed
    std::shared_ptr<DeviceCounts> counts;
  };
  struct State {
    std::uint64_t identity = 0;
    std::shared_ptr<const GroupStamps> stamps;
  };

  void NoteState(const FlavorState& state);
  const Slot* TakeOver(const CountsKey& key, const PlacementJob& job);

  Device* device_;
  std::list<State> states_;  // newest first
  LruByBytes<CountsKey, Slot, CountsKey::Hash> slots_;
};

}  // namespace espalier
