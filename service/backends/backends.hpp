// Makes back ends by name.
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

// Makes a back end:
//  * "cpu" answers everything on the CPU;
//  * "cuda" answers every batch on the GPU, or is an error;
//  * "auto" answers batches on a GPU if there is one and they are decided sooner there, as far as
//    measured, and everything else, also requests in order, on the CPU;
//  * "emulated" is like "cuda" on a device that the host emulates, for tests.
// Nested gangs are decided on the CPU by all of them.
// `threads` is the number of threads of the CPU back end; 0 is one per core. `largest_batch` is the
// largest batch that is expected: "auto" opens no GPU when it is below kCrossoverBatch. Errors:
// kBadInput for any other name; kDeviceFault when there is no usable GPU.
Result<std::shared_ptr<Backend>> MakeBackend(
    std::string_view name, int threads,
    std::size_t largest_batch = std::numeric_limits<std::size_t>::max());

// Returns a name for people: "cpu", or the name of the back end and its device.
std::string DescribeBackend(const Backend& backend);

// Returns the status of a back end's device; nullopt when it has none.
std::optional<DeviceStatus> StatusOfDevice(const Backend& backend);

// Calls `watcher` now and whenever the device is lost or opened again; see DeviceBackend::Watch. An
// empty watcher ends that. Returns false when the back end has no device, so that nothing is ever
// called.
bool WatchDevice(Backend& backend, DeviceBackend::Watcher watcher);

}  // namespace espalier
