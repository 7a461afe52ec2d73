// Owners of device and pinned host memory. They must not outlive their device.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/cuda/device.hpp"

namespace espalier {

inline constexpr std::size_t kArrayAlignment = 16;

enum class MemoryKind { kDevice, kPinned };

// A block of memory that grows on demand and loses its content when it does. What used the old
// block must have been waited for.
template <MemoryKind kKind>
class MemoryBlock {
 public:
  explicit MemoryBlock(Device& device) : device_(&device) {}
  ~MemoryBlock() { Release(); }
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  DeviceResult<void> Reserve(std::size_t bytes) {
    if (bytes <= size_) return {};
    Release();
    DeviceResult<void*> memory =
        kKind == MemoryKind::kDevice ? device_->Allocate(bytes) : device_->AllocatePinned(bytes);
    if (!memory) return tl::unexpected(std::move(memory.error()));
    data_ = static_cast<std::byte*>(*memory);
    size_ = bytes;
    return {};
  }

 private:
  void Release() noexcept {
    if (data_ == nullptr) return;
    if constexpr (kKind == MemoryKind::kDevice) {
      device_->Free(data_);
    } else {
      device_->FreePinned(data_);
    }
    data_ = nullptr;
    size_ = 0;
  }

  Device* device_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

using DeviceMemory = MemoryBlock<MemoryKind::kDevice>;
using PinnedMemory = MemoryBlock<MemoryKind::kPinned>;

// Lays arrays out one behind the other. Without memory it only measures.
class Packer {
 public:
  Packer() = default;
  Packer(std::byte* device, std::byte* host) : device_(device), host_(host) {}

  // Copies `items` behind what is there; returns their address on the device, null when empty.
  template <class T>
  T* Add(const std::vector<T>& items) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (items.empty()) return nullptr;
    const std::size_t bytes = items.size() * sizeof(T);
    const std::size_t at = Take(bytes);
    if (host_ != nullptr) std::memcpy(host_ + at, items.data(), bytes);
    return At<T>(at);
  }

  // Room for `count` items that only the device writes.
  template <class T>
  T* Leave(std::size_t count) {
    return count == 0 ? nullptr : At<T>(Take(count * sizeof(T)));
  }

  std::size_t size() const { return size_; }

 private:
  std::size_t Take(std::size_t bytes) {
    const std::size_t at = size_;
    size_ += (bytes + kArrayAlignment - 1) / kArrayAlignment * kArrayAlignment;
    return at;
  }
  template <class T>
  T* At(std::size_t offset) const {
    return device_ == nullptr ? nullptr : reinterpret_cast<T*>(device_ + offset);
  }

  std::byte* device_ = nullptr;
  std::byte* host_ = nullptr;
  std::size_t size_ = 0;
};

// Makes `memory` large enough for what `lay_out(Packer&)` leaves room for and lays it out there;
// called twice, the last time with the addresses that count.
template <class LayOut>
DeviceResult<void> Arrange(DeviceMemory& memory, const LayOut& lay_out) {
  Packer measure;
  lay_out(measure);
  if (auto grown = memory.Reserve(measure.size()); !grown) return grown;
  Packer place(memory.data(), nullptr);
  lay_out(place);
  return {};
}

// Sends many small arrays to the device in one copy.
class Upload {
 public:
  explicit Upload(Device& device) : device_(&device), device_memory_(device), staging_(device) {}

  // Calls `pack(Packer&)` twice: to measure, and to fill. Queues the copy. What an earlier Send
  // brought to the device is gone; it must have been waited for.
  template <class Pack>
  DeviceResult<void> Send(const Pack& pack) {
    Packer measure;
    pack(measure);
    if (measure.size() == 0) return {};
    if (auto grown = device_memory_.Reserve(measure.size()); !grown) return grown;
    if (auto grown = staging_.Reserve(measure.size()); !grown) return grown;
    Packer fill(device_memory_.data(), staging_.data());
    pack(fill);
    return device_->CopyToDevice(device_memory_.data(), staging_.data(), fill.size());
  }

 private:
  Device* device_;
  DeviceMemory device_memory_;
  PinnedMemory staging_;
};

}  // namespace espalier
