// The counts that a wave decides on, one entry for each shape on the wave's state, and the kernel
// calls that bring stale ones up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/device_counts.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/leaf_input.hpp"

namespace espalier {

// The counts of a wave. Filled by Add; then Prepare, Pack, AddCalls and NoteCounted are called in
// this order.
class WaveCounts {
 public:
  // Makes no entries yet. The mirror must be up to date with `state`.
  WaveCounts(StateMirror& mirror, const FlavorState& state) : mirror_(&mirror), state_(&state) {}

  // Adds an entry for `counts`, those of the job, unless there is one; returns its position.
  DeviceResult<std::int32_t> Add(const PlacementJob& job, std::shared_ptr<DeviceCounts> counts);

  std::int32_t size() const { return static_cast<std::int32_t>(entries_.size()); }
  std::size_t counts_bytes() const { return counts_bytes_; }
  // Returns the counts of an entry, on the device, with its scores by domain where it has any.
  CountsView ViewOf(std::int32_t entry) const;

  // Determines what must be counted; called once all entries are added.
  void Prepare();
  // Packs what is needed to count the entries that are stale.
  void Pack(Packer& packer);
  // Appends the kernel calls that count and roll up what Pack sent.
  void AddCalls(std::vector<KernelCall>& calls) const;
  // Marks the counts as fresh, once the calls were made and waited for.
  void NoteCounted();

 private:
  struct Entry {
    std::shared_ptr<DeviceCounts> counts;
    const PlacementJob* job = nullptr;  // any job that uses the counts
    CapacityView capacity;
    FilterArrays filter;
    FlatAssumed assumed;
  };
  // Stale entries of which the same leaves are counted; those that fit shape batches come last.
  struct Group {
    std::vector<std::int32_t> entries;
    std::size_t first_batched = 0;
    // Addresses on the device.
    const CountJob* jobs = nullptr;
    const ShapeBatch* batches = nullptr;
    std::int32_t batch_count = 0;
  };

  const Entry& At(std::int32_t entry) const { return entries_[static_cast<std::size_t>(entry)]; }
  // Capacity that entries were counted on, and when it was counted first.
  using CountedOn = std::map<const GroupStamps*, Stamp>;
  void FindChanges(const CountedOn& counted_on);
  CountJob PackJob(const Entry& entry, Packer& packer) const;
  void PackGroup(Group& group, Packer& packer) const;
  void AddCalls(const Group& group, bool everywhere, std::vector<KernelCall>& calls) const;

  StateMirror* mirror_;
  const FlavorState* state_;
  std::vector<Entry> entries_;
  std::unordered_map<const DeviceCounts*, std::int32_t> entry_of_;
  std::size_t counts_bytes_ = 0;

  Group whole_;    // every leaf
  Group changed_;  // leaves of groups that changed, and their ancestors by level
  std::vector<std::int32_t> changed_leaves_;
  std::vector<std::vector<std::int32_t>> changed_domains_;
  // Addresses of the two on the device.
  Items packed_leaves_;
  std::vector<Items> packed_domains_;
};

}  // namespace espalier
