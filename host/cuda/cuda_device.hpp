// Opens the GPU of this machine.
#pragma once

#include <memory>

#include "host/cuda/device.hpp"

namespace espalier {

// Opens the first CUDA device, with a stream of its own. Recreates a context that an earlier fault
// broke; error kLost while another device of this process uses it. Error kNotCompiled: this build
// has no CUDA. Memory that was freed goes back to the driver when the device is destroyed, and
// at each Synchronize as far as it exceeds 512 MiB.
// When `times` is not null, it gets the time of every kernel, measured by events around each
// launch.
DeviceResult<std::unique_ptr<Device>> OpenCudaDevice(KernelTimes* times = nullptr);

// Returns whether this build has CUDA.
bool CudaIsCompiled();

}  // namespace espalier
