// Decides nested gangs on a device: copies each request there with everything it reads, and its
// changes back.
#pragma once

#include <memory>

#include "host/cuda/device.hpp"
#include "host/nested/nested_runner.hpp"

namespace espalier {

// Makes a runner that decides on `device` and, after a fault of it, everything on `cpu`. Neither is
// null.
std::unique_ptr<NestedRunner> MakeNestedDeviceRunner(std::unique_ptr<Device> device,
                                                     std::unique_ptr<NestedRunner> cpu);

}  // namespace espalier
