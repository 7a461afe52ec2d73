// The device's answers are the CPU's, bit for bit.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/gpu_cluster.hpp"
#include "tests/engine/evaluated.hpp"
#include "tests/generated/random.hpp"

namespace espalier::equal_answers_test {
namespace {

using EqualAnswers = DeviceTest;

std::size_t Placed(const std::vector<WorkloadAnswer>& answers) {
  return static_cast<std::size_t>(std::ranges::count_if(
      answers, [](const WorkloadAnswer& answer) { return answer.FirstFailure() == nullptr; }));
}

TEST_F(EqualAnswers, Nominate) {
  const ClusterStateInput cluster = MakeGpuCluster(5, 16, 18, 1);
  const std::vector<WorkloadRequest> gangs = MakeGangs(600, 2);
  const auto cpu = Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kNominate);
  ExpectEqual(cpu, Ask(backend_, cluster, gangs, PlacementMode::kNominate));
  EXPECT_GT(Placed(cpu), 100u);
  EXPECT_LT(Placed(cpu), 500u);
  ExpectAllOnDevice();
}

// Small enough for sanitizers that slow everything down.
TEST_F(EqualAnswers, SmallCluster) {
  const ClusterStateInput cluster = MakeGpuCluster(2, 2, 3, 17);
  const std::vector<WorkloadRequest> gangs = MakeGangs(40, 18);
  for (const PlacementMode mode : {PlacementMode::kNominate, PlacementMode::kSequential}) {
    ExpectEqual(Ask(MakeCpuBackend(1), cluster, gangs, mode), Ask(backend_, cluster, gangs, mode));
  }
}

// Every placement reaches the mirror as a delta, and counts made before it are stale.
TEST_F(EqualAnswers, Sequential) {
  const ClusterStateInput cluster = MakeGpuCluster(3, 8, 9, 3);
  const std::vector<WorkloadRequest> gangs = MakeGangs(150, 4);
  ExpectEqual(Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kSequential),
              Ask(backend_, cluster, gangs, PlacementMode::kSequential));
}

TEST_F(EqualAnswers, BalancedPlacement) {
  const ClusterStateInput cluster = MakeGpuCluster(3, 6, 5, 5);
  const std::vector<WorkloadRequest> gangs = MakeGangs(120, 6);
  FeatureGates gates;
  gates.balanced_placement = true;
  ExpectEqual(Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kNominate, gates),
              Ask(backend_, cluster, gangs, PlacementMode::kNominate, gates));
}

// A job on a base and an overlay (R5.8) is answered as on a state that was changed so, whether the
// overlay takes capacity or gives it; jobs beside it see the base.
TEST_F(EqualAnswers, BaseAndOverlay) {
  const std::vector<WorkloadRequest> gangs = MakeGangs(60, 24);
  const FeatureGates gates;
  const ClusterState base = Build(MakeGpuCluster(3, 4, 6, 23));
  const auto columns = base.Find("gpu")->snapshot().resources().size();
  const auto gpus =
      static_cast<std::size_t>(base.Find("gpu")->snapshot().FindResource("nvidia.com/gpu"));
  std::vector<PlacementJob> jobs;
  std::vector<ClusterState> changed;
  for (std::size_t g = 0; g < gangs.size(); ++g) {
    WorkloadPlacement placement(gangs[g], base, gates);
    const PlacementJob* job = placement.NextJob();
    if (job == nullptr || job->simulate_empty) continue;
    jobs.push_back(*job);
    changed.push_back(base.Clone());
    if (g % 4 == 0) continue;  // no overlay
    for (std::size_t i = g % 3; i < 72; i += 1 + g % 7) {
      AssumedLeaf leaf{LeafId(static_cast<std::int32_t>(i)), std::vector<Amount>(columns, 0)};
      leaf.amounts[gpus] = static_cast<Amount>((g + i) % 9) - 4;
      changed.back().Find("gpu")->Add(leaf.leaf, {{"nvidia.com/gpu", leaf.amounts[gpus]}});
      jobs.back().assumed.Mutable().push_back(std::move(leaf));
    }
  }
  ASSERT_GT(jobs.size(), 40u);
  const std::vector<Evaluated> overlaid = Evaluate(*backend_, jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    PlacementJob job = jobs[i];
    job.assumed = {};
    job.state = changed[i].Find("gpu");
    EXPECT_EQ(overlaid[i], Evaluate(*MakeCpuBackend(1), job)) << "job " << i;
  }
}

// Jobs of several states in turn, more than mirrors are kept for.
TEST_F(EqualAnswers, ManyStates) {
  const auto cpu = MakeCpuBackend(1);
  const std::vector<WorkloadRequest> gangs = MakeGangs(25, 14);
  std::vector<ClusterStateInput> clusters;
  for (int i = 0; i < 12; ++i) clusters.push_back(MakeGpuCluster(1 + i % 3, 2, 3 + i, 100 + i));
  std::vector<ClusterState> states;
  for (const ClusterStateInput& cluster : clusters) states.push_back(Build(cluster));
  for (int round = 0; round < 2; ++round) {
    for (const ClusterState& state : states) {
      ExpectEqual(Engine(cpu, {}).Nominate(state, gangs),
                  Engine(backend_, {}).Nominate(state, gangs));
    }
  }
}

// Branches that come, change and go, on back ends that go on from what they know: as on states that
// were built with the same usage.
TEST_F(EqualAnswers, Branches) {
  struct Member {
    ClusterState state;
    ClusterStateInput built_from;
  };
  const std::vector<std::shared_ptr<Backend>> known = {backend_, MakeCpuBackend(2)};
  const std::vector<WorkloadRequest> gangs = MakeGangs(30, 26);
  Random random(27);
  const auto number = [&](std::size_t end) {
    return static_cast<std::size_t>(random.Between(0, static_cast<std::int64_t>(end) - 1));
  };
  const ClusterStateInput cluster = MakeGpuCluster(4, 16, 3, 25);
  std::vector<Member> members;
  members.push_back({Build(cluster), cluster});
  for (int step = 0; step < 2000; ++step) {
    Member& member = members[number(members.size())];
    switch (random.Between(0, 5)) {
      case 0:
        if (members.size() == 4) {
          members.erase(members.begin() + static_cast<std::ptrdiff_t>(number(4)));
        } else {
          members.push_back({member.state.Branch(), member.built_from});
        }
        break;
      case 1:
      case 2: {
        // RemoveUsage may take back more than there was.
        const bool taken = random.Chance(60);
        const Amount gpus = random.Between(1, 6);
        const std::string& leaf = cluster.nodes[number(cluster.nodes.size())].name;
        const std::vector<FlavorLeafUsage> usage = {
            {"gpu", leaf, {{"nvidia.com/gpu", gpus}, {"cpu", gpus * 900}}}};
        taken ? member.state.AddUsage(usage) : member.state.RemoveUsage(usage);
        const Amount sign = taken ? 1 : -1;
        member.built_from.tas_usage.push_back(
            {"gpu", leaf, {{"nvidia.com/gpu", sign * gpus}, {"cpu", sign * gpus * 900}}});
        break;
      }
      case 3: {
        // A node comes to have more or less, also for those who ask as if nothing were used; or it
        // goes, comes back, is tainted or no longer.
        ClusterStateInput& now = member.built_from;
        Node& node = now.nodes[number(now.nodes.size())];
        const Node before = node;
        if (random.Chance(50)) {
          node.allocatable.Set("nvidia.com/gpu", random.Between(0, 9));
        } else if (random.Chance(60)) {
          node.ready = !node.ready;
        } else if (node.taints.empty()) {
          node.taints = {{"maintenance", "", "NoSchedule"}};
        } else {
          node.taints.clear();
        }
        StateChange change;
        const auto used = std::ranges::find(now.non_tas_usage, node.name, &NodeUsage::node);
        const Resources* used_by_others = used == now.non_tas_usage.end() ? nullptr : &used->usage;
        change.nodes = {{&before, &node, used_by_others, used_by_others}};
        Resources on_leaf;
        change.usage_on = [&](std::string_view, std::string_view leaf) {
          on_leaf = {};
          for (const FlavorLeafUsage& usage : now.tas_usage) {
            if (usage.leaf == leaf) AddTo(on_leaf, usage.usage);
          }
          return &on_leaf;
        };
        if (member.state.CanApply(change)) {
          EXPECT_TRUE(member.state.Apply(change, true, WorkBudget::Unlimited()));
        } else {
          member.state = Build(now);
        }
        break;
      }
      default: {
        const ClusterState built = Build(member.built_from);
        const auto right = Engine(MakeCpuBackend(1), {}).Nominate(built, gangs);
        for (const auto& backend : known) {
          SCOPED_TRACE(fmt::format("step {}, {}", step, backend->name()));
          ExpectEqual(right, Engine(backend, {}).Nominate(member.state, gangs));
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST_F(EqualAnswers, EmptyCluster) {
  const ClusterStateInput cluster = MakeGpuCluster(0, 0, 0, 15);
  const std::vector<WorkloadRequest> gangs = MakeGangs(10, 16);
  ExpectEqual(Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kNominate),
              Ask(backend_, cluster, gangs, PlacementMode::kNominate));
}

}  // namespace
}  // namespace espalier::equal_answers_test
