// When the device fails the request in flight is answered all the same, and the status says so.
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/emulated_device.hpp"
#include "host/engine/engine.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/faulty_device.hpp"
#include "tests/cuda/gpu_cluster.hpp"

namespace espalier {
namespace {

class FailOver : public testing::Test {
 protected:
  FailOver() {
    auto state = ClusterState::Build(MakeGpuCluster(2, 4, 6, 1));
    state_ = std::make_unique<ClusterState>(*std::move(state));
    right_ = Engine(MakeCpuBackend(1), {}).Nominate(*state_, gangs_);
  }

  std::shared_ptr<DeviceBackend> Make(const DeviceBackendOptions& options = EveryBatch()) {
    auto backend = DeviceBackend::Make(
        "emulated",
        [this]() -> DeviceResult<std::unique_ptr<Device>> {
          ++opened_;
          if (open_fails_) return tl::unexpected(DeviceError{DeviceFault::kNoDevice, "gone"});
          return std::make_unique<FaultyDevice>(MakeEmulatedDevice(), plan_);
        },
        MakeCpuBackend(1), options);
    return backend.value_or(nullptr);
  }

  std::vector<WorkloadAnswer> Ask(const std::shared_ptr<Backend>& backend) {
    return Engine(backend, {}).Nominate(*state_, gangs_);
  }

  std::shared_ptr<FaultPlan> plan_ = std::make_shared<FaultPlan>();
  bool open_fails_ = false;
  int opened_ = 0;
  std::vector<WorkloadRequest> gangs_ = MakeGangs(40, 2);
  std::unique_ptr<ClusterState> state_;
  std::vector<WorkloadAnswer> right_;
};

// Whichever call fails first, from the first copy to the last wait.
TEST_F(FailOver, AFaultAnywhereIsAnsweredByTheCpu) {
  const auto works = Make();
  EXPECT_EQ(Ask(works), right_);
  const int calls = plan_->calls;
  ASSERT_GT(calls, 20);
  for (int fail_at = 1; fail_at <= calls; ++fail_at) {
    *plan_ = {};
    const auto backend = Make();
    plan_->fail_at = fail_at;
    EXPECT_EQ(Ask(backend), right_) << "call " << fail_at;
    const DeviceStatus status = backend->status();
    EXPECT_FALSE(status.ready);
    EXPECT_EQ(status.faults, 1u);
    ASSERT_TRUE(status.fault);
    EXPECT_EQ(status.fault->fault, DeviceFault::kLost);
    EXPECT_GT(status.jobs_on_cpu, 0u);
  }
}

TEST_F(FailOver, TheDeviceIsLeftAloneUntilTheRetry) {
  const auto backend = Make();
  plan_->fail_at = 5;
  plan_->fault = DeviceFault::kOutOfMemory;
  Ask(backend);
  plan_->fail_at = -1;
  const int opened = opened_;
  EXPECT_EQ(Ask(backend), right_);
  EXPECT_EQ(opened_, opened);
  EXPECT_EQ(backend->status().jobs_on_device, 0u);
  EXPECT_EQ(backend->status().fault->fault, DeviceFault::kOutOfMemory);
}

TEST_F(FailOver, TheRetryBringsTheDeviceBack) {
  DeviceBackendOptions options = EveryBatch();
  options.first_retry = options.last_retry = std::chrono::milliseconds(0);
  const auto backend = Make(options);
  plan_->fail_at = 5;
  Ask(backend);
  plan_->fail_at = -1;
  EXPECT_EQ(Ask(backend), right_);
  const DeviceStatus status = backend->status();
  EXPECT_TRUE(status.ready);
  EXPECT_GT(status.jobs_on_device, 0u);
  EXPECT_TRUE(status.fault) << "the last fault stays known";
}

TEST_F(FailOver, ARetryThatCannotOpenTheDeviceIsAFaultToo) {
  DeviceBackendOptions options = EveryBatch();
  options.first_retry = options.last_retry = std::chrono::milliseconds(0);
  const auto backend = Make(options);
  plan_->fail_at = 1;
  open_fails_ = true;
  EXPECT_EQ(Ask(backend), right_);
  EXPECT_EQ(Ask(backend), right_);
  EXPECT_GE(backend->status().faults, 2u);
  EXPECT_EQ(backend->status().fault->fault, DeviceFault::kNoDevice);
}

TEST_F(FailOver, ABackendWithoutADeviceIsAnError) {
  open_fails_ = true;
  EXPECT_EQ(Make(), nullptr);
  const auto backend = DeviceBackend::Make(
      "cuda",
      []() -> DeviceResult<std::unique_ptr<Device>> {
        return tl::unexpected(DeviceError{DeviceFault::kWrongDriver, "too old"});
      },
      MakeCpuBackend(1));
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().error_class, ErrorClass::kDeviceFault);
  EXPECT_EQ(backend.error().message, "back end cuda: wrong driver: too old");
}

}  // namespace
}  // namespace espalier
