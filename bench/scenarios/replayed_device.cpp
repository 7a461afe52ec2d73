#include "bench/scenarios/replayed_device.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace espalier {
namespace {

class ReplayedDevice final : public Device {
 public:
  ReplayedDevice(std::unique_ptr<Device> device, ReplayedWork& work)
      : device_(std::move(device)), work_(work) {}

  std::string_view name() const override { return "replayed"; }
  std::int32_t concurrent_blocks() const override { return device_->concurrent_blocks(); }
  std::int32_t concurrent_warps() const override { return device_->concurrent_warps(); }
  std::int32_t blocks_in_order() const override { return device_->blocks_in_order(); }
  std::size_t block_memory_bytes() const override { return device_->block_memory_bytes(); }
  std::size_t free_memory_bytes() const override { return device_->free_memory_bytes(); }

  DeviceResult<void*> Allocate(std::size_t bytes) override {
    ++work_.allocations;
    return device_->Allocate(bytes);
  }
  void Free(void* memory) noexcept override { device_->Free(memory); }
  DeviceResult<void> Pin(void* memory, std::size_t bytes) override {
    ++work_.allocations;
    return device_->Pin(memory, bytes);
  }
  bool Unpin(void* memory) noexcept override { return device_->Unpin(memory); }

  DeviceResult<void> Clear(void* memory, std::size_t bytes) override {
    ++work_.copies;
    return replays() ? DeviceResult<void>() : device_->Clear(memory, bytes);
  }
  DeviceResult<void> CopyToDevice(void* to, const void* from, std::size_t bytes) override {
    ++work_.copies;
    work_.bytes_there += static_cast<std::int64_t>(bytes);
    return replays() ? DeviceResult<void>() : device_->CopyToDevice(to, from, bytes);
  }
  DeviceResult<void> CopyToHost(void* to, const void* from, std::size_t bytes) override {
    ++work_.copies;
    work_.bytes_back += static_cast<std::int64_t>(bytes);
    copies_back_.push_back({to, bytes});
    return replays() ? DeviceResult<void>() : device_->CopyToHost(to, from, bytes);
  }
  DeviceResult<void> Launch(std::span<const KernelCall> calls) override {
    work_.launches += std::ssize(calls);
    return replays() ? DeviceResult<void>() : device_->Launch(calls);
  }
  DeviceResult<void> Synchronize() override {
    // In a replay too: memory that was freed is given back.
    if (auto done = device_->Synchronize(); !done) return done;
    bool known = true;
    for (const CopyBack& copy : copies_back_) {
      if (work_.mode() == ReplayedWork::Mode::kRecord) work_.Keep(copy.to, copy.bytes);
      if (replays()) known = known && work_.BringBack(copy.to, copy.bytes);
    }
    copies_back_.clear();
    if (known) return {};
    return tl::unexpected(
        DeviceError{DeviceFault::kLost, "a replay asked for something that was not recorded"});
  }

 private:
  struct CopyBack {
    void* to = nullptr;
    std::size_t bytes = 0;
  };

  bool replays() const { return work_.mode() == ReplayedWork::Mode::kReplay; }

  std::unique_ptr<Device> device_;
  ReplayedWork& work_;
  std::vector<CopyBack> copies_back_;  // since the last wait
};

}  // namespace

void ReplayedWork::Begin(Mode mode) {
  mode_ = mode;
  launches = copies = bytes_there = bytes_back = allocations = 0;
  next_ = 0;
  if (mode != Mode::kRecord) return;
  kept_.clear();
  each_once_ = true;
}

void ReplayedWork::Keep(const void* at, std::size_t bytes) {
  each_once_ = each_once_ && std::ranges::find(kept_, at, &Kept::at) == kept_.end();
  const auto* begin = static_cast<const std::byte*>(at);
  kept_.push_back({at, {begin, begin + bytes}});
}

bool ReplayedWork::BringBack(void* to, std::size_t bytes) {
  if (next_ == kept_.size() || kept_[next_].bytes.size() != bytes) return false;
  const Kept& kept = kept_[next_++];
  if (!each_once_ || kept.at != to) std::memcpy(to, kept.bytes.data(), bytes);
  return true;
}

std::unique_ptr<Device> MakeReplayedDevice(std::unique_ptr<Device> device, ReplayedWork& work) {
  return std::make_unique<ReplayedDevice>(std::move(device), work);
}

}  // namespace espalier
