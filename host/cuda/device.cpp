#include "host/cuda/device.hpp"

#include <algorithm>

namespace espalier {

std::string_view KernelName(std::size_t kernel) {
  constexpr std::array<std::string_view, kKernels> kNames = {
      "scatter_kernel",       "move_shapes_kernel",
      "count_leaves_kernel",  "count_shape_batches_kernel",
      "count_groups_kernel",  "count_group_batches_kernel",
      "count_classes_kernel", "sum_classes_kernel",
      "roll_up_kernel",       "index_kernel",
      "read_domains_kernel",  "decide_kernel",
      "decide_small_kernel",  "decide_in_order_kernel",
      "exclusions_kernel",    "scan",
      "compact_kernel"};
  return kNames[kernel];
}

void KernelTimes::Add(std::size_t kernel, double milliseconds) {
  Times& times = times_[kernel];
  ++times.launches;
  times.milliseconds += milliseconds;
  times.longest = std::max(times.longest, milliseconds);
}

std::string_view Name(DeviceFault fault) {
  switch (fault) {
    case DeviceFault::kNotCompiled:
      return "not compiled";
    case DeviceFault::kNoDevice:
      return "no device";
    case DeviceFault::kWrongDriver:
      return "wrong driver";
    case DeviceFault::kOutOfMemory:
      return "out of memory";
    case DeviceFault::kLaunchFailed:
      return "launch failed";
    case DeviceFault::kLost:
      return "device lost";
  }
  return "unknown";
}

}  // namespace espalier
