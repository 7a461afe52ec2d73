// Page-locked memory of the host, which a device copies from and to directly.
//
// The memory is the process's, and only locked by a device: what the device wrote can be read when
// the device is gone, by who holds the memory then.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "host/cuda/device.hpp"

namespace espalier {

// Memory that grows on demand and loses its content when it does; of one device, which it must not
// outlive. Work that uses the old memory must have been waited for.
class PinnedMemory {
 public:
  explicit PinnedMemory(Device& device) : device_(&device) {}
  ~PinnedMemory() { Release(); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  DeviceResult<void> Reserve(std::size_t bytes);

  // Unlocks the memory for good. It goes to the caller, who keeps it until nobody reads it, and
  // frees it with std::free unless this returns false.
  bool Detach() noexcept;

 private:
  void Release() noexcept;

  Device* device_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Blocks of pinned memory that a device copies answers to, one for each batch whose answers are
// still read where they were written. Belongs to one device, which it must not outlive, and one
// thread at a time; blocks may be held and dropped by others, also when this is gone.
class AnswerBlocks {
 public:
  explicit AnswerBlocks(Device& device) : device_(&device) {}
  // All copies to blocks must have been waited for.
  ~AnswerBlocks();
  AnswerBlocks(const AnswerBlocks&) = delete;
  AnswerBlocks& operator=(const AnswerBlocks&) = delete;

  // Returns a block of so many bytes or more, which nobody else holds; it is free again once the
  // caller and everybody that it was handed to let go of it.
  DeviceResult<std::shared_ptr<std::byte>> Take(std::size_t bytes);

  // Returns whether so many blocks are held that answers had better be copied.
  bool Scarce() const;

 private:
  struct Block;

  Device* device_;
  std::vector<std::shared_ptr<Block>> blocks_;
};

}  // namespace espalier
