// A device that fails when it is told to, around one that works.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "host/cuda/device.hpp"

namespace espalier {

// Shared with the test. Every call counts; the call with number `fail_at` and all behind it fail.
struct FaultPlan {
  int calls = 0;
  int fail_at = -1;  // never
  DeviceFault fault = DeviceFault::kLost;
  std::size_t memory_bytes = std::size_t{1} << 30;
  std::function<void(const KernelCall&)> on_call;  // sees every kernel
  std::function<void()> on_wait;                   // is called before each wait
  bool stuck = false;                              // never lets go of pinned memory
  std::size_t bytes_sent = 0;                      // to the device
  int copies_sent = 0;
  std::size_t bytes_read_uncleared = 0;         // from memory that was never cleared
  std::map<std::byte*, std::size_t> allocated;  // device memory by address
  std::set<std::byte*> cleared;                 // of it, from the first to the last byte
  std::set<void*> pinned;                       // host memory

  std::size_t bytes_allocated() const {
    std::size_t sum = 0;
    for (const auto& [memory, bytes] : allocated) sum += bytes;
    return sum;
  }
};

class FaultyDevice final : public Device {
 public:
  FaultyDevice(std::unique_ptr<Device> inner, std::shared_ptr<FaultPlan> plan)
      : inner_(std::move(inner)), plan_(std::move(plan)) {}

  std::string_view name() const override { return "faulty"; }
  std::int32_t concurrent_blocks() const override { return inner_->concurrent_blocks(); }
  std::int32_t concurrent_warps() const override { return inner_->concurrent_warps(); }
  std::int32_t blocks_in_order() const override { return inner_->blocks_in_order(); }
  std::size_t block_memory_bytes() const override { return inner_->block_memory_bytes(); }
  std::size_t free_memory_bytes() const override { return plan_->memory_bytes; }

  DeviceResult<void*> Allocate(std::size_t bytes) override {
    if (Fails()) return tl::unexpected(Fault());
    DeviceResult<void*> memory = inner_->Allocate(bytes);
    if (memory) plan_->allocated.emplace(static_cast<std::byte*>(*memory), bytes);
    return memory;
  }
  void Free(void* memory) noexcept override {
    plan_->allocated.erase(static_cast<std::byte*>(memory));
    plan_->cleared.erase(static_cast<std::byte*>(memory));
    inner_->Free(memory);
  }
  DeviceResult<void> Pin(void* memory, std::size_t bytes) override {
    return Guard([&]() -> DeviceResult<void> {
      plan_->pinned.insert(memory);
      return inner_->Pin(memory, bytes);
    });
  }
  bool Unpin(void* memory) noexcept override {
    if (plan_->stuck) return false;
    plan_->pinned.erase(memory);
    return inner_->Unpin(memory);
  }
  DeviceResult<void> Clear(void* memory, std::size_t bytes) override {
    auto* begin = static_cast<std::byte*>(memory);
    if (const auto whole = plan_->allocated.find(begin);
        whole != plan_->allocated.end() && whole->second <= bytes) {
      plan_->cleared.insert(begin);
    }
    return Guard([&] { return inner_->Clear(memory, bytes); });
  }
  DeviceResult<void> CopyToDevice(void* to, const void* from, std::size_t bytes) override {
    plan_->bytes_sent += bytes;
    ++plan_->copies_sent;
    return Guard([&] { return inner_->CopyToDevice(to, from, bytes); });
  }
  DeviceResult<void> CopyToHost(void* to, const void* from, std::size_t bytes) override {
    const auto* begin = static_cast<const std::byte*>(from);
    auto part_of = plan_->allocated.upper_bound(const_cast<std::byte*>(begin));
    if (part_of == plan_->allocated.begin() || !plan_->cleared.contains((--part_of)->first)) {
      plan_->bytes_read_uncleared += bytes;
    }
    return Guard([&] { return inner_->CopyToHost(to, from, bytes); });
  }
  DeviceResult<void> Launch(std::span<const KernelCall> calls) override {
    if (plan_->on_call) std::ranges::for_each(calls, plan_->on_call);
    return Guard([&] { return inner_->Launch(calls); });
  }
  DeviceResult<void> Synchronize() override {
    if (plan_->on_wait) plan_->on_wait();
    return Guard([&] { return inner_->Synchronize(); });
  }

 private:
  bool Fails() { return ++plan_->calls >= plan_->fail_at && plan_->fail_at >= 0; }
  DeviceError Fault() const { return {plan_->fault, "injected"}; }
  template <class Call>
  DeviceResult<void> Guard(const Call& call) {
    if (Fails()) return tl::unexpected(Fault());
    return call();
  }

  std::unique_ptr<Device> inner_;
  std::shared_ptr<FaultPlan> plan_;
};

}  // namespace espalier
