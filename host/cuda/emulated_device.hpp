// The host playing a device, so that the whole back end runs where there is no GPU: queued work is
// done at Synchronize, and kernels run block by block on a team of the host.
#pragma once

#include <cstdint>
#include <memory>

#include "host/cuda/device.hpp"

namespace espalier {

struct EmulatedDeviceOptions {
  std::int32_t lanes = 1;              // threads of a block; 1 runs blocks without any
  std::int32_t concurrent_blocks = 2;  // workspaces the back end then makes
  bool guard_memory = false;           // host code that touches device memory crashes
  int* replays = nullptr;              // counts sequences that ran from a recording
};

std::unique_ptr<Device> MakeEmulatedDevice(const EmulatedDeviceOptions& options = {});

}  // namespace espalier
