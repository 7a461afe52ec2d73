// Gangs that a device decides in order, many in one launch: the answers are the CPU's, one after
// the other.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/gpu_cluster.hpp"
#include "tests/generated/random.hpp"

namespace espalier::in_order_test {
namespace {

using InOrder = DeviceTest;

// Gangs of a few dozen shapes without leaders: on any level, with slices, filters and scores.
struct Queue {
  std::vector<GangShape> shapes;
  std::vector<GangRow> gangs;
};

Queue MakeQueue(int gangs, std::uint64_t seed) {
  Queue queue;
  for (const WorkloadRequest& request : MakeGangs(40, seed)) {
    queue.shapes.push_back({request.pod_sets.front(), std::nullopt});
    queue.shapes.back().simulate_empty = request.simulate_empty;
  }
  Random random(seed);
  for (int i = 0; i < gangs; ++i) {
    const auto shape = static_cast<std::int32_t>(random.Below(40));
    const TopologyRequest& topology =
        *queue.shapes[static_cast<std::size_t>(shape)].workers.topology_request;
    const std::int32_t unit = topology.slice_size.value_or(1);
    const auto pods = static_cast<std::int32_t>(random.Below(random.Chance(20) ? 60 : 8));
    queue.gangs.push_back({shape, pods / unit * unit + (pods % unit > 0 ? unit : 0)});
  }
  return queue;
}

// Places the queue on both, and expects the same answers and the same state afterwards.
GangAnswers Place(Backend& device, const ClusterStateInput& cluster, const Queue& queue) {
  ClusterState right = Build(cluster);
  GangAnswers expected;
  GangBatch(right, {}, queue.shapes).PlaceInOrder(*MakeCpuBackend(1), right, queue.gangs, expected);
  ClusterState state = Build(cluster);
  GangAnswers answers;
  GangBatch(state, {}, queue.shapes).PlaceInOrder(device, state, queue.gangs, answers);
  EXPECT_EQ(answers, expected);
  EXPECT_EQ(state.Find("gpu")->remaining(), right.Find("gpu")->remaining());
  return expected;
}

TEST_F(InOrder, AnyQueue) {
  std::size_t placed = 0;
  std::size_t failed = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const auto blocks = 1 + static_cast<int>(seed % 3);
    const GangAnswers answers =
        Place(*backend_, MakeGpuCluster(blocks, 2 + static_cast<int>(seed % 7), 7, seed),
              MakeQueue(150, seed));
    failed += answers.failures.size();
    placed += answers.size() - answers.failures.size();
    if (HasFailure()) return;
  }
  EXPECT_GT(placed, 300u);
  EXPECT_GT(failed, 300u);
  ExpectAllOnDevice();
}

// Gangs of one shape want the same racks, so that nearly every answer changes the next one.
TEST_F(InOrder, GangsInEachOthersWay) {
  Queue queue = MakeQueue(0, 3);
  queue.shapes.resize(2);
  for (GangShape& shape : queue.shapes) {
    shape.workers.topology_request = TopologyRequest{.preferred = "rack"};
    shape.workers.pod_template = {};
    shape.workers.requests.Set("nvidia.com/gpu", 1);
    shape.simulate_empty = false;
  }
  queue.shapes[1].workers.requests.Set("nvidia.com/gpu", 2);
  for (int i = 0; i < 200; ++i) queue.gangs.push_back({i % 2, 1 + i % 5});
  const GangAnswers answers = Place(*backend_, MakeGpuCluster(2, 6, 5, 4), queue);
  EXPECT_GT(answers.failures.size(), 20u);
  EXPECT_LT(answers.failures.size(), 180u);
}

// More than a launch may have.
TEST_F(InOrder, LongQueue) {
  Place(*backend_, MakeGpuCluster(2, 4, 6, 5), MakeQueue(4500, 6));
  ExpectAllOnDevice();
}

// What is booked reaches the mirror as a delta, and what is nominated afterwards sees it.
TEST_F(InOrder, BetweenNominations) {
  const std::vector<WorkloadRequest> gangs = MakeGangs(60, 8);
  ClusterState cpu_state = Build(MakeGpuCluster(2, 5, 6, 7));
  ClusterState state = cpu_state.Clone();
  const Engine cpu(MakeCpuBackend(1), {});
  const Engine device(backend_, {});
  for (int round = 0; round < 3; ++round) {
    ExpectEqual(cpu.Nominate(cpu_state, gangs), device.Nominate(state, gangs));
    ExpectEqual(cpu.PlaceInOrder(cpu_state, gangs), device.PlaceInOrder(state, gangs));
  }
}

}  // namespace
}  // namespace espalier::in_order_test
