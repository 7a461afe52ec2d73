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
  // Returns whether these are of leaves too.
  bool LeavesStored(std::int32_t entry) const { return At(entry).counts->leaves_stored; }
  // Returns what its leaves are counted from, on the device; valid after Pack.
  const LeafInput& InputOf(std::int32_t entry) const { return At(entry).input; }

  // Determines what must be counted; called once all entries are added. Lays out `tables`, which
  // must not be in use.
  DeviceResult<void> Prepare(DeviceMemory& tables);
  // Packs the input of all entries and what is needed to count those that are stale.
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
    LeafInput input;  // its addresses are on the device
  };
  // Entries of a Stale that are counted alike; those that fit shape batches come last.
  struct Part {
    std::size_t begin = 0;
    std::size_t first_batched = 0;
    std::size_t end = 0;
    // On the device.
    const ShapeBatch* batches = nullptr;
    std::int32_t batch_count = 0;
  };
  // Stale entries of which the same groups of leaves are counted.
  struct Stale {
    std::vector<std::int32_t> entries;  // `sums` first
    Part sums;                          // without counts of leaves
    Part leaves;                        // with these
    const CountJob* jobs = nullptr;     // on the device
  };
  // What is counted and rolled up.
  struct Where {
    Items groups;
    Items leaves;
    std::vector<Items> domains;  // by level, above the leaves
  };

  const Entry& At(std::int32_t entry) const { return entries_[static_cast<std::size_t>(entry)]; }
  // Capacity that entries were counted on, and when it was counted first.
  using CountedOn = std::map<const GroupStamps*, Stamp>;
  void FindChanges(const CountedOn& counted_on);
  bool ListSinceClasses();
  void Sort(Stale& stale) const;
  DeviceResult<void> LayOutClassBatches(DeviceMemory& tables);
  LeafInput PackInput(const Entry& entry, Packer& packer) const;
  void PackStale(Stale& stale, Packer& packer) const;
  void PackBatches(const Stale& stale, Part& part, Packer& packer) const;
  void PackClassed(Packer& packer);
  Where Everywhere() const;
  void AddClassCalls(std::vector<KernelCall>& calls) const;
  void AddCalls(const Stale& stale, const Where& where, std::vector<KernelCall>& calls) const;

  StateMirror* mirror_;
  const FlavorState* state_;
  std::vector<Entry> entries_;
  std::unordered_map<const DeviceCounts*, std::int32_t> entry_of_;
  std::size_t counts_bytes_ = 0;

  Stale classed_;  // of which every group is counted by classes, and these in place of that:
  std::vector<std::int32_t> since_classes_;
  std::vector<ClassBatch> class_batches_;  // of its entries, in their order; without jobs
  // On the device.
  ClassArrays classes_;
  const ClassBatch* packed_class_batches_ = nullptr;
  Items packed_since_classes_;

  Stale whole_;    // of which every group is counted
  Stale changed_;  // of which only these are:
  std::vector<std::int32_t> changed_groups_;
  std::vector<std::int32_t> changed_leaves_;
  std::vector<std::vector<std::int32_t>> changed_domains_;  // ancestors by level
  Where changes_;                                           // these on the device
};

}  // namespace espalier
