// Owners of device memory, and what fills it. They must not outlive their device.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "host/cuda/device.hpp"
#include "host/cuda/pinned_memory.hpp"

namespace espalier {

inline constexpr std::size_t kArrayAlignment = 16;

// Memory that grows on demand and loses its content when it does. Work that uses the old memory
// must have been waited for.
class DeviceMemory {
 public:
  explicit DeviceMemory(Device& device) : device_(&device) {}
  ~DeviceMemory() { Release(); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  DeviceResult<void> Reserve(std::size_t bytes) {
    if (bytes <= size_) return {};
    Release();
    DeviceResult<void*> memory = device_->Allocate(bytes);
    if (!memory) return tl::unexpected(std::move(memory.error()));
    data_ = static_cast<std::byte*>(*memory);
    size_ = bytes;
    return {};
  }

 private:
  void Release() noexcept {
    if (data_ != nullptr) device_->Free(data_);
    data_ = nullptr;
    size_ = 0;
  }

  Device* device_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Finds arrays of the device in what was copied from there to the host in one piece.
class CopyOnHost {
 public:
  // Takes where that begins, on the device and on the host.
  CopyOnHost(const std::byte* there, std::byte* here) : there_(there), here_(here) {}

  // Returns an array that was copied, by its address on the device; null for null.
  template <class T>
  T* Of(T* array) const {
    if (array == nullptr) return nullptr;
    return reinterpret_cast<T*>(here_ + (reinterpret_cast<const std::byte*>(array) - there_));
  }

 private:
  const std::byte* there_;
  std::byte* here_;
};

// Lays arrays out one after the other. Without memory it only measures.
class Packer {
 public:
  Packer() = default;
  Packer(std::byte* device, std::byte* host) : device_(device), host_(host) {}

  // Copies `items` after those already there; returns their address on the device, null when empty.
  template <class T>
  T* Add(const std::vector<T>& items) {
    return Add(items.data(), items.size());
  }
  template <class T>
  T* Add(const T* items, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (count == 0) return nullptr;
    const std::size_t bytes = count * sizeof(T);
    const std::size_t at = Take(bytes);
    if (host_ != nullptr) std::memcpy(host_ + at, items, bytes);
    return At<T>(at);
  }

  // Adds zeros.
  template <class T>
  T* AddZeros(std::size_t count) {
    const std::size_t at = size_;
    T* items = Leave<T>(count);
    if (host_ != nullptr && count > 0) std::memset(host_ + at, 0, count * sizeof(T));
    return items;
  }

  // Adds `bytes`, a multiple of kArrayAlignment, that the device moves to `home` later, and sets
  // `here` to where they are until then. Returns what fills them with arrays whose addresses are
  // those at home.
  Packer AddMoving(std::byte* home, std::size_t bytes, const std::byte*& here) {
    const std::size_t at = Take(bytes);
    here = At<const std::byte>(at);
    return {home, host_ == nullptr ? nullptr : host_ + at};
  }

  // Reserves memory for `count` items that only the device writes; returns its address, null for 0.
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

// Reserves in `memory` what `lay_out(Packer&)` adds, and lays it out there. Calls `lay_out` twice,
// to measure and then with the final addresses.
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

  // Calls `pack(Packer&)` twice, to measure and to fill, and queues the copy. Overwrites what an
  // earlier Send brought to the device, which must have been waited for.
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

  // Copies the first bytes of what was sent back to the host, where it was staged, and waits.
  DeviceResult<void> Fetch(std::size_t bytes) {
    if (auto done = device_->CopyToHost(staging_.data(), device_memory_.data(), bytes); !done) {
      return done;
    }
    return device_->Synchronize();
  }
  const std::byte* staged() const { return staging_.data(); }

 private:
  Device* device_;
  DeviceMemory device_memory_;
  PinnedMemory staging_;
};

}  // namespace espalier
