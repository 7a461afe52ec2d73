// Keeps one shape on one state on a device: its rolled-up counts and what describes it to kernels,
// in one block of memory; and a cache of these within a memory limit. Counts of leaves are
// kept only where decisions read them all; otherwise the decisions count the leaves that they
// reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/counts_key.hpp"
#include "host/model/lru_by_bytes.hpp"
#include "kernels/cuda/count_blocks.hpp"
#include "kernels/views.hpp"

namespace espalier {

// One shape on one state, or on one that it is a branch of. Not thread-safe.
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

  // Returns whether the device has what describes the job's shape on the mirror.
  bool IsDescribed(const PlacementJob& job, const StateMirror& mirror) const {
    return described_on == mirror.addresses() && filter == job.filter;
  }

  // Lays out all arrays that the job needs, and indices of the levels for what decides on them.
  void LayOut(const PlacementJob& job, bool indexed, Packer& packer);
  // Lays out what describes the job's shape, once the arrays are laid out.
  void LayOutDescription(const PlacementJob& job, Packer& packer);
  // Does both in `memory`, with indices.
  DeviceResult<void> Allocate(const PlacementJob& job);

  // Packs what describes the shape on its way to where it stays. `capacity` and `arrays` are on the
  // device.
  MovingShape PackDescription(const PlacementJob& job, CapacityView capacity,
                              const FilterArrays& arrays, Packer& packer) const;

  std::shared_ptr<const PodShape> shape;  // keeps the address in the key from being reused
  DeviceMemory memory;
  CountsView view;                          // the arrays
  const ResidentShape* resident = nullptr;  // beside them
  std::byte* description = nullptr;         // what `resident` is a part of
  std::size_t description_bytes = 0;
  bool leaves_stored = false;
  std::int32_t domains = 0;  // of the tree
  std::int32_t leaves = 0;
  std::shared_ptr<const GroupStamps> counted_on;  // of the capacity that was counted; null: none
  Stamp made_at = 0;                              // the latest of them at the time
  std::uint64_t described_on = 0;                 // StateMirror::addresses then; 0: not yet
  std::shared_ptr<const NodeFilter> filter;       // of the description
  std::uint64_t wave = 0;                         // that used them last, of the cache's
};

// Lays out arrays for counts; those of slices and of the leader only when they differ from their
// twins.
CountsView LayOutCounts(std::size_t domains, bool slices, bool leader, Packer& packer);

// Returns whether counts made for the job may serve others. Those that assume usage of one job, or
// leave out leaves, serve only that job.
bool SharesCounts(const PlacementJob& job);

// A cache of counts, by key. What is used stays until the wave that used it ends. Not thread-safe.
class DeviceCountsCache {
 public:
  DeviceCountsCache(Device& device, std::size_t max_bytes)
      : device_(&device), max_bytes_(max_bytes), slots_(max_bytes) {}

  // Returns the counts for a job: those that are there, those of another branch of the state that
  // no longer exists, or new ones. Drops counts of the states that were the last to be asked for
  // eight states ago and no longer exist, and others when memory runs short, the least recently
  // used ones first. Null: there is no room besides those that the wave uses.
  DeviceResult<std::shared_ptr<DeviceCounts>> Get(const PlacementJob& job);

  // Uses counts that Get returned before and that have not been dropped since.
  void Use(DeviceCounts& counts) { counts.wave = wave_; }

  // Returns the number of the wave that uses counts, from 1 on, and begins the next.
  std::uint64_t wave() const { return wave_; }
  void EndWave();

 private:
  // States whose counts another branch may take over.
  static constexpr std::size_t kMaxStates = 8;

  struct Slot {
    std::shared_ptr<const GroupStamps> stamps;  // of the state; frozen when it is destroyed
    std::shared_ptr<DeviceCounts> counts;
    std::uint64_t placed_in = 0;  // wave, among the slots
  };
  struct State {
    std::uint64_t identity = 0;
    std::shared_ptr<const GroupStamps> stamps;
  };

  void NoteState(const FlavorState& state);
  Slot* TakeOver(const CountsKey& key, const PlacementJob& job);
  bool MakeRoom(std::size_t bytes);
  void Hold(std::shared_ptr<DeviceCounts> counts);

  Device* device_;
  std::size_t max_bytes_;
  std::uint64_t wave_ = 1;
  std::list<State> states_;  // newest first
  LruByBytes<CountsKey, Slot, CountsKey::Hash> slots_;
  std::vector<std::shared_ptr<DeviceCounts>> held_;  // used by the wave and kept for no other
  std::size_t held_bytes_ = 0;
};

}  // namespace espalier
