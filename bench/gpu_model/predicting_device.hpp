// A device that tells a Predictor of all that is queued on another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "bench/gpu_model/gpu_model.hpp"
#include "host/cuda/device.hpp"

namespace espalier {

class PredictingDevice final : public Device {
 public:
  // `predictor` must outlive the device.
  PredictingDevice(std::unique_ptr<Device> inner, Predictor& predictor)
      : inner_(std::move(inner)), predictor_(predictor) {}

  std::string_view name() const override { return inner_->name(); }
  std::int32_t concurrent_blocks() const override { return inner_->concurrent_blocks(); }
  std::int32_t concurrent_warps() const override { return inner_->concurrent_warps(); }
  std::int32_t blocks_in_order() const override { return inner_->blocks_in_order(); }
  std::size_t block_memory_bytes() const override { return inner_->block_memory_bytes(); }
  std::size_t free_memory_bytes() const override { return inner_->free_memory_bytes(); }

  DeviceResult<void*> Allocate(std::size_t bytes) override { return inner_->Allocate(bytes); }
  void Free(void* memory) noexcept override { inner_->Free(memory); }
  DeviceResult<void> Pin(void* memory, std::size_t bytes) override {
    return inner_->Pin(memory, bytes);
  }
  bool Unpin(void* memory) noexcept override { return inner_->Unpin(memory); }

  DeviceResult<void> Clear(void* memory, std::size_t bytes) override {
    return inner_->Clear(memory, bytes);
  }
  DeviceResult<void> CopyToDevice(void* to, const void* from, std::size_t bytes) override {
    predictor_.AddCopy(bytes);
    return inner_->CopyToDevice(to, from, bytes);
  }
  DeviceResult<void> CopyToHost(void* to, const void* from, std::size_t bytes) override {
    predictor_.AddCopy(bytes);
    return inner_->CopyToHost(to, from, bytes);
  }
  DeviceResult<void> Launch(std::span<const KernelCall> calls) override {
    for (const KernelCall& call : calls) predictor_.AddKernel(call);
    return inner_->Launch(calls);
  }
  DeviceResult<void> Synchronize() override {
    predictor_.AddWait();
    return inner_->Synchronize();
  }

 private:
  std::unique_ptr<Device> inner_;
  Predictor& predictor_;
};

}  // namespace espalier
