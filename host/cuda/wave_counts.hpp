// Collects what the counts that a wave decides on lack, and makes the kernel calls that bring them
// up to date.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_set>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/device_counts.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/state_mirror.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

// The counts of a wave that the device does not have as they are now. Filled by Add; then Prepare,
// Pack, AddCalls and NoteCounted are called in this order.
class WaveCounts {
 public:
  // Makes no entries yet. The mirror must be up to date with `state`.
  WaveCounts(StateMirror& mirror, const FlavorState& state) : mirror_(&mirror), state_(&state) {}

  // Adds an entry for `counts`, those of the job, which stay until NoteCounted, unless there is one
  // or nothing is to be done for them.
  DeviceResult<void> Add(const PlacementJob& job, DeviceCounts& counts) {
    if (counts.IsDescribed(job, *mirror_) && counts.IsCurrent(job)) return {};
    return AddEntry(job, counts);
  }

  // Determines what must be counted; called once all entries are added. Lays out `tables`, which
  // must not be in use.
  DeviceResult<void> Prepare(DeviceMemory& tables);
  // Packs what describes shapes that are new, and what is needed to count those that are stale.
  void Pack(Packer& packer);
  // Appends the kernel calls that move shapes home, count and roll up what Pack sent.
  void AddCalls(std::vector<KernelCall>& calls) const;
  // Marks the counts as fresh, once the calls were made and waited for.
  void NoteCounted();

 private:
  struct Entry {
    DeviceCounts* counts = nullptr;
    const PlacementJob* job = nullptr;  // any job that uses the counts
    CapacityView capacity;
    FilterArrays filter;  // where it is to be described
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
    // On the device, of each entry.
    const ResidentShape* const* shapes = nullptr;
  };
  // What is counted and rolled up.
  struct Where {
    Items groups;
    Items leaves;
    std::vector<Items> domains;  // by level, above the leaves
  };

  DeviceResult<void> AddEntry(const PlacementJob& job, DeviceCounts& counts);
  const Entry& At(std::int32_t entry) const { return entries_[static_cast<std::size_t>(entry)]; }
  // Capacity that entries were counted on, and when it was counted first.
  using CountedOn = std::map<const GroupStamps*, Stamp>;
  void FindChanges(const CountedOn& counted_on);
  bool ListSinceClasses();
  void Sort(Stale& stale) const;
  DeviceResult<void> LayOutClassBatches(DeviceMemory& tables);
  void PackDescriptions(Packer& packer);
  void PackStale(Stale& stale, Packer& packer) const;
  void PackBatches(const Stale& stale, Part& part, Packer& packer) const;
  void PackClassed(Packer& packer);
  Where Everywhere() const;
  void AddClassCalls(std::vector<KernelCall>& calls) const;
  void AddCalls(const Stale& stale, const Where& where, std::vector<KernelCall>& calls) const;

  StateMirror* mirror_;
  const FlavorState* state_;
  std::vector<Entry> entries_;
  std::unordered_set<const DeviceCounts*> added_;
  const MovingShape* packed_moving_ = nullptr;  // on the device
  std::int32_t moving_count_ = 0;

  Stale classed_;  // of which every group is counted by classes, and these in place of that:
  std::vector<std::int32_t> since_classes_;
  std::vector<ClassBatch> class_batches_;  // of its entries, in their order; without shapes
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
