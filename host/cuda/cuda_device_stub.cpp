// Stands in for cuda_device.cpp in a build without CUDA.
#include "host/cuda/cuda_device.hpp"

namespace espalier {

DeviceResult<std::unique_ptr<Device>> OpenCudaDevice(KernelTimes* /*times*/) {
  return tl::unexpected(DeviceError{DeviceFault::kNotCompiled,
                                    "this build has no CUDA; build it with the preset cuda"});
}

bool CudaIsCompiled() { return false; }

}  // namespace espalier
