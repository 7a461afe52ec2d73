// The back ends by name.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "host/cuda/device_backend.hpp"
#include "host/engine/backend.hpp"
#include "host/model/result.hpp"

namespace espalier {

// "auto": the GPU for large batches where one can be used, else the CPU. "cpu". "cuda": the GPU for
// every batch, or an error. "emulated": the same on a device played by the host; for tests.
// `threads` is for what the CPU answers; 0 is one per core.
// Errors: kBadInput for any other name; kDeviceFault when there is no GPU to use.
Result<std::shared_ptr<Backend>> MakeBackend(std::string_view name, int threads);

// How the device of a back end is, or nothing when it has none.
std::optional<DeviceStatus> StatusOfDevice(const Backend& backend);

}  // namespace espalier
