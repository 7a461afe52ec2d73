// Opens the GPU of this machine.
#pragma once

#include <memory>

#include "host/cuda/device.hpp"

namespace espalier {

// Opens the first CUDA device, with a stream of its own. Recreates a context that an earlier fault
// broke, so devices opened before must be destroyed. Error kNotCompiled: this build has no CUDA.
// When `times` is not null, it gets the time of every kernel, measured by events around each
// launch.
DeviceResult<std::unique_ptr<Device>> OpenCudaDevice(KernelTimes* times = nullptr);

// Returns whether this build has CUDA.
bool CudaIsCompiled();

}  // namespace espalier
