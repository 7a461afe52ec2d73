// A queue of gangs for a back end on the device under test, which counts what it is asked for.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/gang_batch.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/gpu_cluster.hpp"

namespace espalier {

// Returns shapes that differ in their requests, of pods of which a node holds one; each may be put
// anywhere and has no counts of leaves.
inline std::vector<GangShape> MakeShapes(int count) {
  std::vector<GangShape> shapes;
  for (int i = 0; i < count; ++i) {
    PodSetRequest& pods = shapes.emplace_back().workers;
    pods.name = "workers";
    pods.flavor = "gpu";
    pods.requests = {{"cpu", 33'000 + i}};
    pods.topology_request.emplace().preferred = i % 2 == 0 ? "rack" : "block";
  }
  return shapes;
}

// Tests with a back end of their own on the device under test, whose plan they know.
class PlannedDeviceTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    backend_ = nullptr;  // one at a time
    if (!IsSkipped() && !HasFatalFailure()) Open();
  }
  // Opens the device anew.
  void Open() {
    backend_ = nullptr;
    auto backend = MakeUnderTest(EveryBatch(), plan_);
    ASSERT_TRUE(backend) << backend.error().message;
    backend_ = *std::move(backend);
  }

  static GangAnswers Nominate(const std::shared_ptr<Backend>& backend, const ClusterState& state,
                              std::span<const GangShape> shapes, std::span<const GangRow> gangs) {
    GangAnswers answers;
    GangBatch(state, {}, shapes).Nominate(*backend, gangs, answers);
    return answers;
  }
  GangAnswers OnCpu(const ClusterState& state, std::span<const GangShape> shapes,
                    std::span<const GangRow> gangs) const {
    return Nominate(cpu_, state, shapes, gangs);
  }

  std::shared_ptr<FaultPlan> plan_ = std::make_shared<FaultPlan>();
  std::shared_ptr<Backend> cpu_ = MakeCpuBackend(1);
};

}  // namespace espalier
