// Memory that runs out in the middle of an evaluation leaves nothing behind: no lock, no counts
// that were not made, nothing booked. Each allocation fails in turn, and the same is asked again.
#include "tests/failing_allocation.hpp"

#include <functional>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/gpu_cluster.hpp"

namespace espalier::failing_allocation_test {
namespace {

using MakeBackend = std::function<std::shared_ptr<Backend>()>;

struct BackendUnderTest {
  const char* name;
  MakeBackend make;
};

class FailingAllocationTest : public testing::TestWithParam<BackendUnderTest> {
 protected:
  // A state and a branch on which more is used; nothing was asked of either yet.
  struct States {
    explicit States(const ClusterStateInput& cluster) : first(Build(cluster)) {
      for (const std::int32_t leaf : {0, 1, 3}) {
        second.Find("gpu")->Add(LeafId(leaf), {{"nvidia.com/gpu", 3}});
      }
    }

    ClusterState first;
    ClusterState second = first.Branch();
  };

  // Expects that ask(state, backend) answers as ever when memory ran out in the middle of it
  // before.
  template <class Ask>
  void ExpectTheSameAfterEachFailure(const Ask& ask) {
    const States states(cluster_);
    const auto right_first = ask(states.first, GetParam().make());
    const auto right_second = ask(states.second, GetParam().make());
    for (const bool warm : {true, false}) {  // asked before, or out of memory at once
      std::int64_t number = 0;
      for (bool failed = true; failed; ++number) {
        SCOPED_TRACE(number);
        const States fresh(cluster_);
        const std::shared_ptr<Backend> backend = GetParam().make();
        if (warm) {
          EXPECT_EQ(ask(fresh.first, backend), right_first);
        }
        failed = FailAllocation(number, AllocationsOf::kEveryThread,
                                [&] { EXPECT_EQ(ask(fresh.second, backend), right_second); });
        EXPECT_EQ(ask(fresh.second, backend), right_second);
        EXPECT_EQ(ask(fresh.first, backend), right_first);
        if (HasFailure()) return;
      }
      EXPECT_GT(number, 50);
    }
  }

  ClusterStateInput cluster_ = MakeGpuCluster(2, 3, 4, 31);
  const std::vector<WorkloadRequest> gangs_ = MakeGangs(6, 36);
};

TEST_P(FailingAllocationTest, Nominate) {
  ExpectTheSameAfterEachFailure(
      [&](const ClusterState& state, const std::shared_ptr<Backend>& backend) {
        return Engine(backend, {}).Nominate(state, gangs_);
      });
}

TEST_P(FailingAllocationTest, PlaceInOrder) {
  ExpectTheSameAfterEachFailure(
      [&](const ClusterState& state, const std::shared_ptr<Backend>& backend) {
        ClusterState branch = state.Branch();
        return Engine(backend, {}).PlaceInOrder(branch, gangs_);
      });
}

// Leaves whose ids are paths, which are made when they are first asked for.
TEST_P(FailingAllocationTest, WithoutHosts) {
  cluster_.topologies.front().levels.pop_back();
  cluster_.tas_usage.clear();  // asks for ids
  std::vector<WorkloadRequest> gangs(5);
  for (WorkloadRequest& gang : gangs) {
    PodSetRequest& pods = gang.pod_sets.emplace_back();
    pods.name = "workers";
    pods.flavor = "gpu";
    pods.count = 2;
    pods.requests = {{"nvidia.com/gpu", 3}};
    pods.topology_request.emplace().required = "rack";
  }
  ExpectTheSameAfterEachFailure(
      [&](const ClusterState& state, const std::shared_ptr<Backend>& backend) {
        ClusterState branch = state.Branch();
        return Engine(backend, {}).PlaceInOrder(branch, gangs);
      });
}

TEST_P(FailingAllocationTest, BalancedPlacement) {
  FeatureGates gates;
  gates.balanced_placement = true;
  ExpectTheSameAfterEachFailure(
      [&](const ClusterState& state, const std::shared_ptr<Backend>& backend) {
        return Engine(backend, gates).Nominate(state, gangs_);
      });
}

TEST_P(FailingAllocationTest, Gangs) {
  std::vector<GangShape> shapes;
  for (const WorkloadRequest& gang : gangs_)
    shapes.push_back({gang.pod_sets.front(), std::nullopt});
  std::vector<GangRow> gangs;
  for (int i = 0; i < 12; ++i) gangs.push_back({i % 6, 1 + i % 5});
  gangs.push_back({0, 5000});
  ExpectTheSameAfterEachFailure(
      [&](const ClusterState& state, const std::shared_ptr<Backend>& backend) {
        ClusterState branch = state.Branch();
        GangBatch batch(branch, {}, shapes);
        std::vector<GangAnswers> answers(2);
        batch.Nominate(*backend, gangs, answers[0]);
        batch.PlaceInOrder(*backend, branch, gangs, answers[1]);
        return answers;
      });
}

INSTANTIATE_TEST_SUITE_P(
    , FailingAllocationTest,
    testing::Values(BackendUnderTest{"Cpu", [] { return MakeCpuBackend(1); }},
                    BackendUnderTest{"CpuOfTwoThreads", [] { return MakeCpuBackend(2); }},
                    BackendUnderTest{"EmulatedDevice", [] { return *MakeUnderTest(); }}),
    [](const auto& backend) { return backend.param.name; });

}  // namespace
}  // namespace espalier::failing_allocation_test
