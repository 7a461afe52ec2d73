#include "tests/cuda/device_under_test.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "fallback_cpu/cpu_backend.hpp"

namespace espalier {

DeviceBackendOptions EveryBatch() {
  DeviceBackendOptions options;
  options.every_batch = true;
  options.first_retry = std::chrono::hours(1);
  options.last_retry = std::chrono::hours(1);
  return options;
}

Result<std::shared_ptr<DeviceBackend>> MakeUnderTest(const DeviceBackendOptions& options,
                                                     std::shared_ptr<FaultPlan> plan) {
  const auto open = [plan = std::move(plan)]() -> DeviceResult<std::unique_ptr<Device>> {
    DeviceResult<std::unique_ptr<Device>> device = OpenUnderTest();
    if (!device || plan == nullptr) return device;
    return std::make_unique<FaultyDevice>(*std::move(device), plan);
  };
  return DeviceBackend::Make("under test", open, MakeCpuBackend(1), options);
}

void DeviceTest::SetUp() {
  auto backend = MakeUnderTest();
  if (backend) {
    backend_ = *std::move(backend);
    RecordProperty("device", backend_->status().device);
    return;
  }
  const char* required = std::getenv("ESPALIER_REQUIRE_GPU");
  if (required != nullptr && std::string_view(required) == "1") {
    FAIL() << "ESPALIER_REQUIRE_GPU is 1, but " << backend.error().message;
  }
  GTEST_SKIP() << backend.error().message;
}

void DeviceTest::ExpectAllOnDevice() const {
  const DeviceStatus status = backend_->status();
  EXPECT_GT(status.jobs_on_device, 0u);
  EXPECT_EQ(status.jobs_on_cpu, status.jobs_declined);
  EXPECT_EQ(status.faults, 0u) << status.fault.value_or(DeviceError{}).message;
}

}  // namespace espalier
