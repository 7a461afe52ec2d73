// Reports whether the device or the CPU answered the jobs of a run that is to use a device.
#pragma once

#include "host/engine/backend.hpp"

namespace espalier {

// Prints how many jobs the device and the CPU answered, and the last fault. Returns whether the
// device answered all that were asked of it, but for those that are too much for it.
bool ReportDeviceJobs(const Backend& backend);

}  // namespace espalier
