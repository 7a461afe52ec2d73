// A device that fails when it is told to, around one that works.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
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
  std::size_t bytes_sent = 0;                      // to the device
};

class FaultyDevice final : public Device {
 public:
  FaultyDevice(std::unique_ptr<Device> inner, std::shared_ptr<FaultPlan> plan)
      : inner_(std::move(inner)), plan_(std::move(plan)) {}

  std::string_view name() const override { return "faulty"; }
  std::int32_t concurrent_blocks() const override { return inner_->concurrent_blocks(); }
  std::size_t memory_bytes() const override { return plan_->memory_bytes; }

  DeviceResult<void*> Allocate(std::size_t bytes) override {
    if (Fails()) return tl::unexpected(Fault());
    return inner_->Allocate(bytes);
  }
  void Free(void* memory) noexcept override { inner_->Free(memory); }
  DeviceResult<void*> AllocatePinned(std::size_t bytes) override {
    if (Fails()) return tl::unexpected(Fault());
    return inner_->AllocatePinned(bytes);
  }
  void FreePinned(void* memory) noexcept override { inner_->FreePinned(memory); }
  DeviceResult<void> CopyToDevice(void* to, const void* from, std::size_t bytes) override {
    plan_->bytes_sent += bytes;
    return Guard([&] { return inner_->CopyToDevice(to, from, bytes); });
  }
  DeviceResult<void> CopyToHost(void* to, const void* from, std::size_t bytes) override {
    return Guard([&] { return inner_->CopyToHost(to, from, bytes); });
  }
  DeviceResult<void> Launch(std::span<const KernelCall> calls) override {
    if (plan_->on_call) std::ranges::for_each(calls, plan_->on_call);
    return Guard([&] { return inner_->Launch(calls); });
  }
  DeviceResult<void> Synchronize() override {
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
