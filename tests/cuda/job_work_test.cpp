// Tests that work that is too much for one thread block is known before, and does not go there, and
// that what is small goes to warps.
#include "host/cuda/job_work.hpp"

#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/emulated_device.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/faulty_device.hpp"
#include "tests/cuda/gpu_cluster.hpp"

namespace espalier::job_work_test {
namespace {

// A tree whose domains of one level all have as many children.
class Tree {
 public:
  explicit Tree(const std::vector<std::int32_t>& fanouts) {
    level_begin_ = {0};
    std::int32_t width = 1;
    for (const std::int32_t fanout : fanouts) {
      width *= fanout;
      level_begin_.push_back(level_begin_.back() + width);
    }
    for (std::size_t level = 0; level + 1 < fanouts.size(); ++level) {
      for (std::int32_t d = level_begin_[level]; d < level_begin_[level + 1]; ++d) {
        child_begin_.push_back(level_begin_[level + 1] +
                               (d - level_begin_[level]) * fanouts[level + 1]);
      }
    }
    child_begin_.push_back(level_begin_.back());
    view_.level_count = static_cast<std::int32_t>(fanouts.size());
    view_.level_begin = level_begin_.data();
    view_.child_begin = child_begin_.data();
  }
  const TreeView& view() const { return view_; }

 private:
  std::vector<std::int32_t> level_begin_;
  std::vector<std::int32_t> child_begin_;
  TreeView view_;
};

// A job of pods of so many resources.
PlacementJob JobOf(const PlacementQuery& query, bool scored, std::size_t resources) {
  PlacementJob job;
  job.query = query;
  auto shape = std::make_shared<PodShape>();
  shape->workers.amounts.assign(resources, 1);
  job.shape = shape;
  auto filter = std::make_shared<NodeFilter>();
  if (scored) filter->affinity = {1};
  job.filter = filter;
  return job;
}

std::int64_t StepsOf(const Tree& tree, const PlacementQuery& query, bool scored = false,
                     std::size_t resources = 2) {
  return JobWork(tree.view()).Steps(JobOf(query, scored, resources), query.pods);
}

PlacementQuery Query(std::int32_t level, std::int32_t leaves, Count pods) {
  PlacementQuery query;
  query.level = level;
  query.slice.level = leaves;
  query.pods = pods;
  return query;
}

const std::vector<std::int32_t> kLarge = {16, 16, 32, 16};  // 131,072 leaves
const std::vector<std::int32_t> kHosts = {131072};

TEST(JobWorkTest, OrdinaryGangsOfALargeClusterAreLittle) {
  const Tree tree(kLarge);
  for (const Count pods : {1, 16, 512, 100000}) {
    for (std::int32_t level = 0; level < 4; ++level) {
      PlacementQuery query = Query(level, 3, pods);
      EXPECT_LT(StepsOf(tree, query), kMaxBlockSteps) << pods << " preferred at " << level;
      query.required = true;
      EXPECT_LT(StepsOf(tree, query), kMaxBlockSteps / 2) << pods << " required at " << level;
    }
  }
}

// Where every leaf is counted before, a decision counts none.
TEST(JobWorkTest, CountingTheLeavesThatAreReachedIsWork) {
  const Tree tree(kLarge);
  const PlacementQuery on_racks = Query(2, 3, 100000);
  const std::int64_t more = StepsOf(tree, on_racks, false, 32) - StepsOf(tree, on_racks);
  EXPECT_GE(more, 30 * (100000 / 128));
  EXPECT_LE(more, 30 * (131072 / 128));
  const PlacementQuery on_hosts = Query(3, 3, 100000);
  EXPECT_EQ(StepsOf(tree, on_hosts, false, 32), StepsOf(tree, on_hosts));
}

// A wide level is gone through a few times more, and only what is taken is sorted.
TEST(JobWorkTest, ChoosingByAffinityIsAFewPasses) {
  PlacementQuery query = Query(0, 0, 8);
  query.unconstrained = true;
  for (const std::int32_t hosts : {131072, 1 << 20}) {
    const Tree tree({hosts});
    EXPECT_GT(StepsOf(tree, query, true), StepsOf(tree, query));
    EXPECT_LT(StepsOf(tree, query, true), 2 * StepsOf(tree, query));
    EXPECT_LT(StepsOf(tree, query, true), kMaxBlockSteps / 4) << hosts;
  }
}

TEST(JobWorkTest, SortingManyThatAreTakenIsMore) {
  const Tree tree(kHosts);
  PlacementQuery query = Query(0, 0, 8);
  query.unconstrained = true;
  const std::int64_t few = StepsOf(tree, query);
  query.pods = 131072;
  EXPECT_GT(StepsOf(tree, query), 2 * few);
  EXPECT_LT(StepsOf(tree, query, true), kMaxBlockSteps / 2);
}

TEST(JobWorkTest, SelectingExactlyAmongManyIsTooMuch) {
  PlacementQuery query = Query(0, 0, 256);
  query.balanced = true;
  EXPECT_GT(StepsOf(Tree(kHosts), query), kMaxBlockSteps);
  query = Query(3, 3, 16);
  query.balanced = true;
  EXPECT_LT(StepsOf(Tree(kLarge), query), kMaxBlockSteps) << "in racks of 16";
  query.required = true;  // which is never balanced
  EXPECT_LT(StepsOf(Tree(kLarge), query), kMaxBlockSteps / 4);
}

TEST(JobWorkTest, NoNumberOverflows) {
  constexpr Count kMany = Count{1} << 40;
  for (const auto& fanouts : {kLarge, kHosts}) {
    for (std::int32_t level = 0; level < static_cast<std::int32_t>(fanouts.size()); ++level) {
      PlacementQuery query = Query(level, static_cast<std::int32_t>(fanouts.size()) - 1, kMany);
      query.balanced = true;
      query.leaders = 1;
      const std::int64_t steps = StepsOf(Tree(fanouts), query, true);
      EXPECT_GT(steps, kMaxBlockSteps);
      EXPECT_LE(steps, JobWork::kManySteps);
    }
  }
}

std::int64_t WarpStepsOf(const Tree& tree, const PlacementQuery& query, bool scored = false,
                         std::size_t resources = 2) {
  const JobWork::Small small = JobWork(tree.view()).SmallOf(JobOf(query, scored, resources));
  return query.pods <= small.pods ? small.steps : JobWork::kManySteps;
}

TEST(JobWorkTest, GangsThatAnIndexFindsAPlaceForAreSmall) {
  const Tree tree(kLarge);
  for (std::int32_t level = 0; level < 3; ++level) {
    for (const Count pods : {0, 1, 16, 128}) {
      PlacementQuery query = Query(level, 3, pods);
      EXPECT_LE(WarpStepsOf(tree, query), kSmallSteps) << pods << " preferred at " << level;
      query.required = true;
      EXPECT_LE(WarpStepsOf(tree, query), kSmallSteps) << pods << " required at " << level;
    }
  }
  PlacementQuery slices = Query(2, 2, 512);
  slices.required = true;
  EXPECT_EQ(WarpStepsOf(tree, slices), JobWork::kManySteps) << "more than is told of";
  slices.slice.size = 4;
  EXPECT_LE(WarpStepsOf(tree, slices), kSmallSteps);
}

TEST(JobWorkTest, WhatNeedsAWholeLevelIsNotSmall) {
  const Tree tree(kLarge);
  const PlacementQuery small = Query(2, 3, 16);
  EXPECT_LE(WarpStepsOf(tree, small), kSmallSteps);
  EXPECT_EQ(WarpStepsOf(tree, small, true), JobWork::kManySteps) << "scores";
  EXPECT_EQ(WarpStepsOf(tree, Query(3, 3, 16)), JobWork::kManySteps) << "leaves";
  EXPECT_EQ(WarpStepsOf(tree, small, false, 100), JobWork::kManySteps) << "leaves take long";
  EXPECT_EQ(WarpStepsOf(tree, Query(2, 3, 100000)), JobWork::kManySteps) << "long lists";
  PlacementQuery query = small;
  query.leaders = 1;
  EXPECT_EQ(WarpStepsOf(tree, query), JobWork::kManySteps);
  query = small;
  query.slice.layer_count = 1;
  EXPECT_EQ(WarpStepsOf(tree, query), JobWork::kManySteps);
  query = small;
  query.least_free = true;
  EXPECT_EQ(WarpStepsOf(tree, query), JobWork::kManySteps);
  query = small;
  query.balanced = true;
  EXPECT_EQ(WarpStepsOf(tree, query), JobWork::kManySteps);
  query.required = true;  // which is never balanced
  EXPECT_LE(WarpStepsOf(tree, query), kSmallSteps);
  EXPECT_EQ(WarpStepsOf(Tree(kHosts), Query(0, 0, 1)), JobWork::kManySteps);
}

class BoundedWorkTest : public testing::Test {
 protected:
  std::shared_ptr<DeviceBackend> Make(const EmulatedDeviceOptions& options = {}) {
    decided_.clear();
    plan_->on_call = [this](const KernelCall& call) {
      if (const auto* args = std::get_if<DecideArgs>(&call)) decided_.push_back(args->job_count);
      if (const auto* args = std::get_if<DecideSmallArgs>(&call)) small_.push_back(args->job_count);
    };
    auto backend = DeviceBackend::Make(
        "emulated",
        [this, options]() -> DeviceResult<std::unique_ptr<Device>> {
          return std::make_unique<FaultyDevice>(MakeEmulatedDevice(options), plan_);
        },
        MakeCpuBackend(1), EveryBatch());
    return backend.value_or(nullptr);
  }

  std::shared_ptr<FaultPlan> plan_ = std::make_shared<FaultPlan>();
  std::vector<std::int32_t> decided_;  // jobs of thread blocks, by launch
  std::vector<std::int32_t> small_;    // of warps
};

WorkloadRequest Gang(std::int32_t pods) {
  WorkloadRequest gang;
  gang.key = {"default", "gang"};
  PodSetRequest& workers = gang.pod_sets.emplace_back();
  workers.name = "workers";
  workers.flavor = "gpu";
  workers.count = pods;
  workers.requests.Set("nvidia.com/gpu", 1);
  workers.topology_request.emplace();
  return gang;
}

// Balanced placement over all hosts selects among thousands on one lane.
TEST_F(BoundedWorkTest, TheCpuAnswersWhatIsTooMuch) {
  FeatureGates gates;
  gates.balanced_placement = true;
  const ClusterStateInput cluster = MakeGpuCluster(1, 1, 4000, 41);
  std::vector<WorkloadRequest> gangs = {Gang(3), Gang(500), Gang(4)};
  gangs[0].pod_sets[0].topology_request->required = std::string(kHostnameLabel);
  gangs[1].pod_sets[0].topology_request->preferred = std::string(kHostnameLabel);
  gangs[2].pod_sets[0].topology_request->unconstrained = true;
  const auto device = Make();
  ExpectEqual(Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kNominate, gates),
              Ask(device, cluster, gangs, PlacementMode::kNominate, gates));
  EXPECT_EQ(decided_, std::vector<std::int32_t>{2});
  EXPECT_EQ(device->status().jobs_on_device, 2u);
  EXPECT_EQ(device->status().jobs_on_cpu, 1u);
  EXPECT_EQ(device->status().jobs_declined, 1u);
}

// What a mirror is sent for a batch of which the CPU answers all may be overwritten for the next.
TEST_F(BoundedWorkTest, AStateChangesBetweenBatchesOfWhichTheCpuAnswersAll) {
  FeatureGates gates;
  gates.balanced_placement = true;
  std::vector<WorkloadRequest> too_much = {Gang(500)};
  too_much[0].pod_sets[0].topology_request->preferred = std::string(kHostnameLabel);
  std::vector<WorkloadRequest> small = {Gang(3)};
  small[0].pod_sets[0].topology_request->required = std::string(kHostnameLabel);
  constexpr std::int32_t kRacks = 4;
  constexpr std::int32_t kHostsOfRack = 2000;
  ClusterState state = Build(MakeGpuCluster(1, kRacks, kHostsOfRack, 41));
  const auto backend = Make();
  const Engine device(backend, gates);
  const Engine cpu(MakeCpuBackend(1), gates);
  for (std::int32_t racks = 0; racks < kRacks; ++racks) {  // that change
    for (std::int32_t rack = 0; rack < racks; ++rack) {
      state.Find("gpu")->Add(LeafId(rack * kHostsOfRack), {{"nvidia.com/gpu", 1}});
    }
    ExpectEqual(cpu.Nominate(state, too_much), device.Nominate(state, too_much));
  }
  ExpectEqual(cpu.Nominate(state, small), device.Nominate(state, small));
  EXPECT_EQ(backend->status().jobs_declined, 4u);
  EXPECT_EQ(backend->status().jobs_on_device, 1u);
}

// Warps and thread blocks decide their part of one batch each, whose answers stay in order.
TEST_F(BoundedWorkTest, SmallJobsAreALaunchOfTheirOwn) {
  const ClusterStateInput cluster = MakeGpuCluster(3, 16, 8, 43);
  std::vector<WorkloadRequest> gangs;
  for (std::int32_t i = 0; i < 60; ++i) {
    TopologyRequest& topology = *gangs.emplace_back(Gang(1 + i)).pod_sets[0].topology_request;
    if (i % 3 == 0) {
      topology.unconstrained = true;
    } else {
      (i % 3 == 1 ? topology.required : topology.preferred) = "rack";
    }
  }
  const auto device = Make();
  ExpectEqual(Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kNominate),
              Ask(device, cluster, gangs, PlacementMode::kNominate));
  EXPECT_EQ(decided_, std::vector<std::int32_t>{20});
  EXPECT_EQ(small_, std::vector<std::int32_t>{40});
  EXPECT_EQ(device->status().jobs_on_cpu, 0u);
}

// Affinity looks at all hosts for every gang: a thread block decides only so many in a launch.
TEST_F(BoundedWorkTest, ManyJobsThatTakeLongAreSeveralLaunches) {
  FeatureGates gates;
  gates.respect_node_affinity_preferred = true;
  const ClusterStateInput cluster = MakeGpuCluster(1, 1, 20000, 42);
  WorkloadRequest gang = Gang(2);
  gang.pod_sets[0].topology_request->unconstrained = true;
  gang.pod_sets[0].pod_template.affinity.preferred.push_back(
      {10, {{{"disk", "NotIn", {"ssd"}}}, {}}});
  const std::vector<WorkloadRequest> gangs(300, gang);
  const auto cpu = Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kNominate, gates);
  for (const std::int32_t blocks : {1, 2}) {
    const auto device = Make({.concurrent_blocks = blocks});
    ExpectEqual(cpu, Ask(device, cluster, gangs, PlacementMode::kNominate, gates));
    EXPECT_EQ(decided_.size(), blocks == 1 ? 2u : 1u);
    EXPECT_EQ(std::accumulate(decided_.begin(), decided_.end(), 0), 300);
    EXPECT_EQ(device->status().jobs_on_cpu, 0u);
  }
}

}  // namespace
}  // namespace espalier::job_work_test
