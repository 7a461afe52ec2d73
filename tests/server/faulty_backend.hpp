// A back end on an emulated device that fails when it is told to, and is tried again at once.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/device_backend.hpp"
#include "host/cuda/emulated_device.hpp"
#include "tests/cuda/faulty_device.hpp"

namespace espalier {

inline std::shared_ptr<Backend> MakeFaultyBackend(std::shared_ptr<FaultPlan> plan) {
  DeviceBackendOptions options;
  options.every_batch = true;
  options.first_retry = options.last_retry = std::chrono::milliseconds(0);
  auto backend = DeviceBackend::Make(
      "emulated",
      [plan = std::move(plan)]() -> DeviceResult<std::unique_ptr<Device>> {
        return std::make_unique<FaultyDevice>(MakeEmulatedDevice(), plan);
      },
      MakeCpuBackend(1), options);
  return *std::move(backend);
}

}  // namespace espalier
