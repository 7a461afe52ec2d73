#include "service/backends/backends.hpp"

#include <utility>

#include <fmt/format.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "fallback_cpu/nested_cpu.hpp"
#include "host/cuda/cuda_device.hpp"
#include "host/cuda/emulated_device.hpp"
#include "host/model/excerpt.hpp"
#include "host/nested/tree_placer.hpp"

namespace espalier {
namespace {

tl::unexpected<Error> UnknownBackend(std::string_view name) {
  return BadInput(fmt::format("unknown back end \"{}\"; there are auto, cpu, cuda and emulated",
                              Excerpt(name)));
}

// Lets a back end on a device place trees, which it does on the CPU.
Result<std::shared_ptr<Backend>> WithTrees(Result<std::shared_ptr<DeviceBackend>> backend) {
  if (!backend) return tl::unexpected(backend.error());
  (*backend)->SetTrees(MakeTreePlacer(MakeNestedCpuRunner));
  return backend;
}

}  // namespace

Result<std::shared_ptr<Backend>> MakeBackend(std::string_view name, int threads,
                                             std::size_t largest_batch) {
  std::shared_ptr<Backend> cpu = MakeCpuBackend(threads);
  if (name == "cpu" || (name == "auto" && largest_batch < kCrossoverBatch)) return cpu;
  DeviceBackendOptions options;
  options.every_batch = name != "auto";
  if (name == "emulated") {
    return WithTrees(DeviceBackend::Make(
        "emulated", [] { return MakeEmulatedDevice(); }, cpu, options));
  }
  if (name == "cuda" || name == "auto") {
    auto cuda = DeviceBackend::Make(
        "cuda", [] { return OpenCudaDevice(); }, cpu, options);
    if (!cuda && name == "auto") return cpu;
    return WithTrees(std::move(cuda));
  }
  return UnknownBackend(name);
}

std::string DescribeBackend(const Backend& backend) {
  const auto status = StatusOfDevice(backend);
  if (!status || status->device == backend.name()) return std::string(backend.name());
  return fmt::format("{} on {}", backend.name(), status->device);
}

std::optional<DeviceStatus> StatusOfDevice(const Backend& backend) {
  const auto* device = dynamic_cast<const DeviceBackend*>(&backend);
  if (device == nullptr) return std::nullopt;
  return device->status();
}

bool WatchDevice(Backend& backend, DeviceBackend::Watcher watcher) {
  auto* device = dynamic_cast<DeviceBackend*>(&backend);
  if (device != nullptr) device->Watch(std::move(watcher));
  return device != nullptr;
}

}  // namespace espalier
