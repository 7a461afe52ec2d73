// Rolled-up counts of one shape on one state in the memory of a device, and a cache of them within
// a memory limit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/counts_key.hpp"
#include "host/model/lru_by_bytes.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The counts of one shape on one state. Not thread-safe.
struct DeviceCounts {
  DeviceCounts(Device& device, const PlacementJob& job) : shape(job.shape), memory(device) {}

  // Allocates memory for all arrays that the job needs.
  DeviceResult<void> Allocate(const PlacementJob& job);

  std::shared_ptr<const Shape> shape;  // keeps the address in the key from being reused
  DeviceMemory memory;
  CountsView view;  // the arrays in `memory`
  bool counted = false;
  Stamp made_at = 0;  // the latest stamp of the capacity that was counted
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

  // Returns the counts for a job; allocates them when there are none. Drops counts of states that
  // no longer exist at once, and others when memory runs short, the least recently used ones first.
  // The memory of counts lives as long as anybody holds them.
  DeviceResult<std::shared_ptr<DeviceCounts>> Get(const PlacementJob& job);

 private:
  struct Slot {
    std::shared_ptr<const GroupStamps> stamps;  // of the state; frozen when it is destroyed
    std::shared_ptr<DeviceCounts> counts;
  };

  Device* device_;
  std::uint64_t newest_state_ = 0;  // the last one that counts were made for
  LruByBytes<CountsKey, Slot, CountsKey::Hash> slots_;
};

}  // namespace espalier
