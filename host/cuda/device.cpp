#include "host/cuda/device.hpp"

namespace espalier {

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
