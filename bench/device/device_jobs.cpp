#include "bench/device/device_jobs.hpp"

#include <cstdio>

#include <fmt/format.h>

#include "service/backends/backends.hpp"

namespace espalier {

bool ReportDeviceJobs(const Backend& backend) {
  const auto status = StatusOfDevice(backend);
  if (!status) return true;
  fmt::print("device {}: {} jobs there, {} on the CPU, of which {} too much for it, {} faults\n",
             status->device, status->jobs_on_device, status->jobs_on_cpu, status->jobs_declined,
             status->faults);
  if (status->fault) fmt::print("last fault: {}\n", status->fault->message);
  std::fflush(stdout);
  return status->jobs_on_cpu == status->jobs_declined && status->faults == 0;
}

}  // namespace espalier
