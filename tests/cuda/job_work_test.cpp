// Tests that work that is too much for one thread block is known before, and does not go there.
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

std::int64_t StepsOf(const Tree& tree, const PlacementQuery& query, bool scored = false) {
  PlacementJob job;
  job.query = query;
  auto filter = std::make_shared<NodeFilter>();
  if (scored) filter->affinity = {1};
  job.filter = filter;
  return JobWork(tree.view()).Steps(job, query.pods);
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

class BoundedWork : public testing::Test {
 protected:
  std::shared_ptr<DeviceBackend> Make(const EmulatedDeviceOptions& options = {}) {
    decided_.clear();
    plan_->on_call = [this](const KernelCall& call) {
      if (const auto* args = std::get_if<DecideArgs>(&call)) decided_.push_back(args->job_count);
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
  std::vector<std::int32_t> decided_;  // jobs, by launch
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
TEST_F(BoundedWork, TheCpuAnswersWhatIsTooMuch) {
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

// Affinity looks at all hosts for every gang: a thread block decides only so many in a launch.
TEST_F(BoundedWork, ManyJobsThatTakeLongAreSeveralLaunches) {
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
