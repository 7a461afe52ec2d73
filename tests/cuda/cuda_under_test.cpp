#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/cuda_device.hpp"
#include "tests/cuda/device_under_test.hpp"

namespace espalier {

Result<std::shared_ptr<DeviceBackend>> MakeUnderTest(const DeviceBackendOptions& options) {
  return DeviceBackend::Make(
      "cuda", [] { return OpenCudaDevice(); }, MakeCpuBackend(1), options);
}

}  // namespace espalier
