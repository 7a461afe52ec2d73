// Opens devices by the names of their back ends.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "host/cuda/cuda_device.hpp"
#include "host/cuda/emulated_device.hpp"

namespace espalier {

// Opens "cuda" or "emulated"; `times`, when not null, gets the time of every kernel. Error
// kNoDevice for any other name.
inline DeviceResult<std::unique_ptr<Device>> OpenDeviceByName(std::string_view name,
                                                              KernelTimes* times = nullptr) {
  if (name == "cuda") return OpenCudaDevice(times);
  if (name == "emulated") {
    // It has as many blocks and as much memory as an H100, so that batches are split as there.
    return MakeEmulatedDevice(
        {.concurrent_blocks = 132 * 3, .free_memory_bytes = std::size_t{64} << 30, .times = times});
  }
  return tl::unexpected(
      DeviceError{DeviceFault::kNoDevice, "there are the devices cuda and emulated"});
}

}  // namespace espalier
