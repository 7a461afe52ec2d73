// The device's copy of one flavor's tree, capacity and node filters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "host/cuda/device.hpp"
#include "host/cuda/device_memory.hpp"
#include "host/cuda/in_order_pieces.hpp"
#include "host/cuda/job_work.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/packing/node_filter.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A node filter on the device; its pointers are null as in LeafInput and CountsView.
struct FilterArrays {
  const std::uint64_t* matches = nullptr;
  const std::int64_t* affinity = nullptr;
};

// Classes of equal leaves on the device.
struct ClassArrays {
  const std::uint8_t* of_leaf = nullptr;
  CapacityView amounts;  // of a leaf of each class, in whole units
  std::int32_t count = 0;
};

// The copy belongs to one FlavorState at a time. What it sends is queued; the state must not change
// until the device was waited for.
class StateMirror {
 public:
  StateMirror(Device& device, const FlavorState& state);

  bool IsOf(const FlavorState& state) const {
    return stamps_.get() == &state.stamps() && free_stamps_ == state.free_stamps();
  }
  // Returns whether the state it belongs to no longer exists and `state` has the same tree and the
  // same capacity without usage.
  bool CanServe(const FlavorState& state) const {
    return stamps_->frozen() && free_stamps_ == state.free_stamps();
  }

  // Brings the mirror up to date with its state, or with one that it can serve and belongs to from
  // then on. Sends everything the first time, then only the leaves of groups that may differ.
  DeviceResult<void> Refresh(const FlavorState& state);

  // Returns a number that no other mirror has and that changes when an address that remaining(),
  // Free or Filter has returned is no longer theirs.
  std::uint64_t addresses() const { return addresses_; }

  // Returns a view with pointers to device memory; valid after Refresh.
  const TreeView& tree() const { return tree_; }
  // Returns what estimates decisions on the tree.
  const JobWork& work() const { return work_; }
  // Returns how the tree is spread over thread blocks that decide in order; finds it on first use.
  const InOrderPieces& Pieces(const FlavorState& state);
  CapacityView remaining() const { return remaining_view_; }

  // Returns the capacity without usage (R5.1); sends it on first use.
  DeviceResult<CapacityView> Free(const FlavorState& state);
  // Returns a filter of the state's snapshot; sends it on first use. A null filter stands for every
  // leaf without scores.
  DeviceResult<FilterArrays> Filter(const std::shared_ptr<const NodeFilter>& filter);
  // Returns the classes of the state's leaves, of which there must be some; sends them when they
  // are others than before, which must no longer be in use.
  DeviceResult<ClassArrays> Classes(const FlavorState& state);

 private:
  struct FilterMirror {
    explicit FilterMirror(Device& device) : memory(device) {}
    std::shared_ptr<const NodeFilter> filter;  // keeps the address from being reused
    DeviceMemory memory;
    FilterArrays arrays;
  };

  DeviceResult<void> SendTree(const TreeView& host);
  DeviceResult<void> SendAmounts(const FlavorState& state);
  DeviceResult<void> SendChanges(const FlavorState& state);

  static std::uint64_t NextAddresses();

  Device* device_;
  std::uint64_t addresses_ = NextAddresses();
  std::shared_ptr<const GroupStamps> stamps_;       // of its state
  std::shared_ptr<const GroupStamps> free_stamps_;  // those of all states it can serve
  std::int64_t stride_;
  std::int32_t columns_;
  JobWork work_;
  std::optional<InOrderPieces> pieces_;
  DeviceMemory tree_memory_;
  DeviceMemory remaining_;
  DeviceMemory free_;
  Upload changes_;
  TreeView tree_;
  CapacityView remaining_view_;
  bool sent_ = false;
  Stamp made_at_ = 0;  // remaining() has all changes up to this one
  std::unordered_map<const NodeFilter*, FilterMirror> filters_;
  std::shared_ptr<const LeafClasses> classes_;  // those that were sent
  Upload class_memory_;
  ClassArrays class_arrays_;
};

}  // namespace espalier
