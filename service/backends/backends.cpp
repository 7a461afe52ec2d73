#include "service/backends/backends.hpp"

#include <fmt/format.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/cuda_device.hpp"
#include "host/cuda/emulated_device.hpp"

namespace espalier {

Result<std::shared_ptr<Backend>> MakeBackend(std::string_view name, int threads) {
  std::shared_ptr<Backend> cpu = MakeCpuBackend(threads);
  DeviceBackendOptions options;
  if (name != "auto") options.smallest_batch = 1;
  if (name == "cpu") return cpu;
  if (name == "emulated") {
    return DeviceBackend::Make(
        "emulated", [] { return MakeEmulatedDevice(); }, cpu, options);
  }
  if (name == "cuda" || name == "auto") {
    auto cuda = DeviceBackend::Make("cuda", OpenCudaDevice, cpu, options);
    if (!cuda && name == "auto") return cpu;
    return cuda;
  }
  return BadInput(
      fmt::format("unknown back end \"{}\"; there are auto, cpu, cuda and emulated", name));
}

std::optional<DeviceStatus> StatusOfDevice(const Backend& backend) {
  const auto* device = dynamic_cast<const DeviceBackend*>(&backend);
  if (device == nullptr) return std::nullopt;
  return device->status();
}

}  // namespace espalier
