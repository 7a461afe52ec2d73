// The same tests on every kind of device: each executable says in one file which one it tests.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "host/cuda/device_backend.hpp"
#include "tests/cuda/faulty_device.hpp"

namespace espalier {

// Returns options with which every batch goes to the device; after a fault it stays away for the
// rest of the test.
DeviceBackendOptions EveryBatch();

// Opens the device under test.
DeviceResult<std::unique_ptr<Device>> OpenUnderTest();

// Returns a back end on the device under test with these options; where there is a plan, the device
// is a FaultyDevice that follows it.
Result<std::shared_ptr<DeviceBackend>> MakeUnderTest(
    const DeviceBackendOptions& options = EveryBatch(), std::shared_ptr<FaultPlan> plan = nullptr);

// Skips the test when there is no such device; with ESPALIER_REQUIRE_GPU=1 it fails instead.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override;

  // Expects that the device answered every job so far, but for those that are too much for it.
  void ExpectAllOnDevice() const;

  std::shared_ptr<DeviceBackend> backend_;
};

}  // namespace espalier
