#include "host/cuda/emulated_device.hpp"
#include "tests/cuda/device_under_test.hpp"

namespace espalier {

DeviceResult<std::unique_ptr<Device>> OpenUnderTest() { return MakeEmulatedDevice(); }

}  // namespace espalier
