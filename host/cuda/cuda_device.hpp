// The GPU of this machine.
#pragma once

#include <memory>

#include "host/cuda/device.hpp"

namespace espalier {

// The first CUDA device, with a stream of its own. A context that an earlier fault broke is made
// anew, so devices opened before must be gone. Without CUDA in the build: kNotCompiled.
DeviceResult<std::unique_ptr<Device>> OpenCudaDevice();

// Whether this build has CUDA.
bool CudaIsCompiled();

}  // namespace espalier
