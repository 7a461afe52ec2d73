// What only an emulated device can show: other block widths, guarded memory, little memory.
#include "host/cuda/emulated_device.hpp"

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/faulty_device.hpp"
#include "tests/cuda/gpu_cluster.hpp"

namespace espalier {
namespace {

std::shared_ptr<DeviceBackend> MakeEmulated(const EmulatedDeviceOptions& device) {
  auto backend = DeviceBackend::Make(
      "emulated", [device] { return MakeEmulatedDevice(device); }, MakeCpuBackend(1), EveryBatch());
  return backend.value_or(nullptr);
}

// Blocks of several threads with real barriers, as on a GPU; run under ThreadSanitizer.
TEST(EmulatedDevice, BlocksOfManyThreads) {
  const ClusterStateInput cluster = MakeGpuCluster(2, 3, 5, 7);
  const std::vector<WorkloadRequest> gangs = MakeGangs(20, 8);
  const auto cpu = Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kNominate);
  for (const std::int32_t lanes : {2, 7}) {
    ExpectEqual(cpu, Ask(MakeEmulated({.lanes = lanes}), cluster, gangs, PlacementMode::kNominate));
  }
}

// Host code that follows a device pointer would crash.
TEST(EmulatedDevice, HostCodeNeverTouchesDeviceMemory) {
  const ClusterStateInput cluster = MakeGpuCluster(2, 4, 6, 9);
  const std::vector<WorkloadRequest> gangs = MakeGangs(60, 10);
  const EmulatedDeviceOptions guarded{.guard_memory = true};
  for (const PlacementMode mode : {PlacementMode::kNominate, PlacementMode::kSequential}) {
    ExpectEqual(Ask(MakeCpuBackend(1), cluster, gangs, mode),
                Ask(MakeEmulated(guarded), cluster, gangs, mode));
  }
}

// Too little memory for all counts at once: waves, and warm counts that give way.
TEST(EmulatedDevice, SeveralWaves) {
  const ClusterStateInput cluster = MakeGpuCluster(4, 8, 8, 11);
  const std::vector<WorkloadRequest> gangs = MakeGangs(200, 12);
  const auto plan = std::make_shared<FaultPlan>();
  plan->memory_bytes = 64 << 10;
  const auto backend = DeviceBackend::Make(
      "emulated",
      [&]() -> DeviceResult<std::unique_ptr<Device>> {
        return std::make_unique<FaultyDevice>(MakeEmulatedDevice({.concurrent_blocks = 5}), plan);
      },
      MakeCpuBackend(1), EveryBatch());
  ASSERT_TRUE(backend);
  ExpectEqual(Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kNominate),
              Ask(*backend, cluster, gangs, PlacementMode::kNominate));
  EXPECT_EQ((*backend)->status().jobs_on_cpu, 0u);
}

}  // namespace
}  // namespace espalier
