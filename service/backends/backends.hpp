// The back ends by name.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "host/cuda/device_backend.hpp"
#include "host/engine/backend.hpp"
#include "host/model/result.hpp"

namespace espalier {

// "auto": where a GPU can be used, batches that are decided sooner there on it, as far as measured,
// all else on the CPU, requests in order too. "cpu". "cuda": the GPU for every batch, or an error.
// "emulated": the same on a device played by the host; for tests. `threads` is for what the CPU
// answers; 0 is one per core. `largest_batch` is the most that will be asked at once, as far as
// that is known: "auto" opens no GPU for less than kCrossoverBatch.
// Errors: kBadInput for any other name; kDeviceFault when there is no GPU to use.
Result<std::shared_ptr<Backend>> MakeBackend(
    std::string_view name, int threads,
    std::size_t largest_batch = std::numeric_limits<std::size_t>::max());

// For people: "cpu", or the name of the back end and its device.
std::string DescribeBackend(const Backend& backend);

// How the device of a back end is, or nothing when it has none.
std::optional<DeviceStatus> StatusOfDevice(const Backend& backend);

// Calls `watcher` now and whenever the device goes away or comes back; see DeviceBackend::Watch. An
// empty one ends that. False: the back end has no device, and nothing is ever called.
bool WatchDevice(Backend& backend, DeviceBackend::Watcher watcher);

}  // namespace espalier
