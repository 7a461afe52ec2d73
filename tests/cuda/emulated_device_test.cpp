// Tests what only an emulated device can show: other block widths, guarded memory, little memory.
#include "host/cuda/emulated_device.hpp"

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/faulty_device.hpp"
#include "tests/cuda/gpu_cluster.hpp"
#include "tests/engine/asked_domains.hpp"
#include "tests/engine/counted.hpp"
#include "tests/generated/random.hpp"

namespace espalier::emulated_device_test {
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

// Blocks of one launch run in any order, several at a time, as on a GPU; run under ThreadSanitizer.
TEST(EmulatedDevice, BlocksInAnyOrderAtTheSameTime) {
  const ClusterStateInput cluster = MakeGpuCluster(5, 16, 18, 31);
  const std::vector<WorkloadRequest> gangs = MakeGangs(200, 32);
  FeatureGates gates;
  gates.balanced_placement = true;
  const auto cpu = Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kNominate, gates);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto device = MakeEmulated(
        {.blocks_at_once = 4, .block_order = seed, .concurrent_blocks = 8, .poison_memory = true});
    ExpectEqual(cpu, Ask(device, cluster, gangs, PlacementMode::kNominate, gates));
    EXPECT_EQ(device->status().jobs_on_cpu, device->status().jobs_declined);
  }
}

// Questions about every domain, on blocks of any width, in any order, several at a time.
TEST(EmulatedDevice, BlocksThatReadDomains) {
  const ClusterState state = Build(MakeGpuCluster(3, 11, 7, 51));
  std::vector<PlacementJob> jobs;
  const FeatureGates gates;
  for (const WorkloadRequest& gang : MakeGangs(40, 52)) {
    WorkloadPlacement placement(gang, state, gates);
    if (const PlacementJob* job = placement.NextJob()) jobs.push_back(*job);
  }
  Random random(53);
  const AskedDomains asked(jobs, random);
  const std::vector<ReadOfDomains> right = asked.Expected(CountOneByOne(*MakeCpuBackend(1), jobs));
  for (const EmulatedDeviceOptions& options :
       {EmulatedDeviceOptions{.lanes = 1, .guard_memory = true, .poison_memory = true},
        EmulatedDeviceOptions{.lanes = 2, .block_order = 1},
        EmulatedDeviceOptions{.lanes = 7, .poison_memory = true},
        EmulatedDeviceOptions{.blocks_at_once = 4, .block_order = 2}}) {
    const auto device = MakeEmulated(options);
    ExpectSame(asked.Ask(*device), right);
    EXPECT_EQ(device->status().jobs_on_device, jobs.size());
  }
}

// A launch has few blocks in the y direction, and there may be more readings.
TEST(EmulatedDevice, ReadsDomainsForMoreThanALaunchIsTall) {
  const ClusterState state = Build(MakeGpuCluster(3, 2, 2, 54));
  const std::vector<WorkloadRequest> gangs = MakeGangs(1, 55);
  WorkloadPlacement placement(gangs[0], state, {});
  const PlacementJob* job = placement.NextJob();
  ASSERT_NE(job, nullptr);
  const auto read = [&](Backend& backend) {
    std::vector<LevelCounts> held(70'000, LevelCounts{});
    std::vector<DomainReading> readings;
    for (std::size_t i = 0; i < held.size(); ++i) {
      DomainReading& reading = readings.emplace_back();
      reading.asked = {.slices = 1 + static_cast<Count>(i % 50), .leaders = job->query.leaders};
      reading.held = held[i].data();
    }
    backend.CountEach({job, 1}, readings, {});
    return held;
  };
  const auto device = MakeEmulated({});
  EXPECT_EQ(read(*device), read(*MakeCpuBackend(1)));
  EXPECT_EQ(device->status().jobs_on_device, 1U);
}

// However many blocks run together, in whatever order they begin and with however many threads
// each; run under ThreadSanitizer. Where a piece does not fit the memory of a block, nothing is in
// order.
TEST(EmulatedDevice, BlocksThatDecideInOrderTogether) {
  const ClusterStateInput cluster = MakeGpuCluster(3, 4, 5, 41);
  const std::vector<WorkloadRequest> gangs = MakeGangs(40, 42);
  const auto cpu = Ask(MakeCpuBackend(1), cluster, gangs, PlacementMode::kSequential);
  const auto in_order = [&](const EmulatedDeviceOptions& options) {
    const auto plan = std::make_shared<FaultPlan>();
    std::int32_t decided = 0;
    plan->on_call = [&decided](const KernelCall& call) {
      if (const auto* args = std::get_if<DecideInOrderArgs>(&call)) decided += args->job_count;
    };
    const auto device = DeviceBackend::Make(
        "faulty", [&] { return std::make_unique<FaultyDevice>(MakeEmulatedDevice(options), plan); },
        MakeCpuBackend(1), EveryBatch());
    ExpectEqual(cpu, Ask(*device, cluster, gangs, PlacementMode::kSequential));
    EXPECT_EQ((*device)->status().jobs_on_cpu, (*device)->status().jobs_declined);
    return decided;
  };
  EXPECT_GT(in_order({.blocks_in_order = 1}), 10);
  EXPECT_GT(
      in_order(
          {.block_order = 1, .blocks_in_order = 5, .guard_memory = true, .poison_memory = true}),
      10);
  EXPECT_GT(in_order({.lanes = 2, .block_order = 2, .blocks_in_order = 2}), 10);
  EXPECT_EQ(in_order({.blocks_in_order = 2, .block_memory_bytes = 1000}), 0);
  EXPECT_EQ(in_order({.blocks_in_order = 0}), 0);
}

// Host code that follows a device pointer would crash, and nothing depends on what new memory has.
TEST(EmulatedDevice, HostCodeNeverTouchesDeviceMemory) {
  const ClusterStateInput cluster = MakeGpuCluster(2, 4, 6, 9);
  const std::vector<WorkloadRequest> gangs = MakeGangs(60, 10);
  const EmulatedDeviceOptions guarded{.guard_memory = true, .poison_memory = true};
  for (const PlacementMode mode : {PlacementMode::kNominate, PlacementMode::kSequential}) {
    ExpectEqual(Ask(MakeCpuBackend(1), cluster, gangs, mode),
                Ask(MakeEmulated(guarded), cluster, gangs, mode));
  }
}

// However many lanes a block has for each of its jobs, and however many jobs the last block has.
TEST(EmulatedDevice, SharesOfAllJobsAreMovedTogether) {
  std::vector<std::int32_t> counts = {3, 0, 1, 40, 0, 0, 5, 2, 9, 1, 0};
  constexpr std::int32_t kRoom = 50;  // of each job
  std::vector<DecideJob> jobs;
  std::vector<std::uint32_t> ends;
  std::vector<Share> shares(counts.size() * kRoom);
  std::vector<std::int32_t> expected;
  for (const std::int32_t count : counts) {
    const auto begin = static_cast<std::int32_t>(jobs.size()) * kRoom;
    jobs.push_back({0, begin, 0});
    for (std::int32_t i = 0; i < count; ++i) {
      expected.push_back(begin + i);
      shares[static_cast<std::size_t>(begin + i)].domain = expected.back();
    }
    ends.push_back(static_cast<std::uint32_t>(expected.size()));
  }
  for (const std::int32_t lanes : {1, 3, 8, 20}) {
    std::vector<Share> compacted(expected.size());
    CompactArgs args;
    args.jobs = jobs.data();
    args.answers.share_count = counts.data();
    args.answers.share_end = ends.data();
    args.job_count = static_cast<std::int32_t>(jobs.size());
    args.shares = shares.data();
    args.compacted = compacted.data();
    const auto device = MakeEmulatedDevice({.lanes = lanes});
    const KernelCall call = args;
    ASSERT_TRUE(device->Launch({&call, 1}));
    ASSERT_TRUE(device->Synchronize());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(compacted[i].domain, expected[i]) << lanes << " lanes, share " << i;
    }
  }
}

// A queue that is nominated again has the same launches, and what it is asked on may have changed.
TEST(EmulatedDevice, RepeatedLaunchesAreReplayed) {
  const std::vector<WorkloadRequest> gangs = MakeGangs(50, 20);
  ClusterState state = Build(MakeGpuCluster(3, 16, 8, 19));
  FlavorState& flavor = *state.Find("gpu");
  Resources gpu;
  gpu.Set("nvidia.com/gpu", 1);
  int replays = 0;
  const auto device = MakeEmulated({.guard_memory = true, .replays = &replays});
  for (int round = 0; round < 8; ++round) {
    flavor.Add(LeafId(8 * round), gpu);
    ExpectEqual(Engine(MakeCpuBackend(1), {}).Nominate(state, gangs),
                Engine(device, {}).Nominate(state, gangs));
  }
  EXPECT_GT(replays, 3);
}

// All racks are counted by the classes of their leaves where these tell enough, and after a few
// changes only the racks concerned, from what their leaves hold.
TEST(EmulatedDevice, CountsWhatChanged) {
  std::vector<WorkloadRequest> gangs = MakeGangs(50, 22);
  std::erase_if(gangs, [](const WorkloadRequest& gang) { return gang.pod_sets.size() > 1; });
  ClusterState state = Build(MakeGpuCluster(3, 16, 8, 21));
  FlavorState& flavor = *state.Find("gpu");
  Resources gpu;
  gpu.Set("nvidia.com/gpu", 1);
  const auto plan = std::make_shared<FaultPlan>();
  std::vector<std::int32_t> counted;  // racks, by launch
  int by_classes = 0;                 // launches
  plan->on_call = [&](const KernelCall& call) {
    if (std::holds_alternative<SumClassesArgs>(call)) ++by_classes;
    if (const auto* args = std::get_if<CountGroupBatchesArgs>(&call)) {
      counted.push_back(args->groups.size);
    }
  };
  const auto device = DeviceBackend::Make(
      "emulated",
      [&]() -> DeviceResult<std::unique_ptr<Device>> {
        return std::make_unique<FaultyDevice>(MakeEmulatedDevice(), plan);
      },
      MakeCpuBackend(1), EveryBatch());
  const auto nominate = [&] {
    counted.clear();
    ExpectEqual(Engine(MakeCpuBackend(1), {}).Nominate(state, gangs),
                Engine(*device, {}).Nominate(state, gangs));
    return counted;
  };
  nominate();
  EXPECT_EQ(by_classes, 1);
  EXPECT_EQ(nominate(), std::vector<std::int32_t>());
  for (const int leaf : {0, 100, 1}) flavor.Add(LeafId(leaf), gpu);
  EXPECT_EQ(nominate(), std::vector<std::int32_t>{2});
  for (int leaf = 0; leaf < 3 * 16 * 8; ++leaf) flavor.Add(LeafId(leaf), gpu);
  EXPECT_EQ(nominate(), std::vector<std::int32_t>{3 * 16});
  EXPECT_EQ(by_classes, 1);
}

// What has changed since leaves were classified is counted from what they hold.
TEST(EmulatedDevice, CountsByClassesWhatHasNotChangedSince) {
  std::vector<WorkloadRequest> gangs = MakeGangs(50, 24);
  ClusterState state = Build(MakeGpuCluster(3, 16, 8, 23));
  FlavorState& flavor = *state.Find("gpu");
  Resources gpu;
  gpu.Set("nvidia.com/gpu", 2);
  for (const int leaf : {3, 100, 101, 200}) flavor.Add(LeafId(leaf), gpu);
  const auto plan = std::make_shared<FaultPlan>();
  bool by_classes = false;
  std::vector<std::int32_t> counted;  // racks, by launch, after that
  plan->on_call = [&](const KernelCall& call) {
    by_classes = by_classes || std::holds_alternative<SumClassesArgs>(call);
    if (const auto* args = std::get_if<CountGroupBatchesArgs>(&call)) {
      counted.push_back(args->groups.size);
    }
  };
  for (const std::int32_t lanes : {1, 7}) {
    const auto device = DeviceBackend::Make(
        "emulated",
        [&]() -> DeviceResult<std::unique_ptr<Device>> {
          return std::make_unique<FaultyDevice>(MakeEmulatedDevice({.lanes = lanes}), plan);
        },
        MakeCpuBackend(1), EveryBatch());
    by_classes = false;
    counted.clear();
    ExpectEqual(Engine(MakeCpuBackend(1), {}).Nominate(state, gangs),
                Engine(*device, {}).Nominate(state, gangs));
    EXPECT_TRUE(by_classes);
    ASSERT_FALSE(counted.empty());
    EXPECT_EQ(counted.front(), 3);
  }
}

// A mirror of a branch that is gone goes on as that of another: only what differs is sent.
TEST(EmulatedDevice, SendsWhatDiffersBetweenBranches) {
  const ClusterState state = Build(MakeGpuCluster(3, 64, 8, 27));
  const std::vector<WorkloadRequest> gangs = MakeGangs(5, 28);
  const auto plan = std::make_shared<FaultPlan>();
  std::vector<std::int32_t> scattered;  // leaves, by launch
  plan->on_call = [&](const KernelCall& call) {
    if (const auto* args = std::get_if<ScatterArgs>(&call)) scattered.push_back(args->size);
  };
  const auto device = DeviceBackend::Make(
      "emulated",
      [&]() -> DeviceResult<std::unique_ptr<Device>> {
        return std::make_unique<FaultyDevice>(MakeEmulatedDevice(), plan);
      },
      MakeCpuBackend(1), EveryBatch());
  const std::size_t amounts = state.Find("gpu")->remaining().size() * sizeof(Amount);
  // Compares the answers with the CPU's, and returns whether all amounts were sent.
  const auto nominate = [&](const ClusterState& on) {
    scattered.clear();
    const std::size_t before = plan->bytes_sent;
    ExpectEqual(Engine(MakeCpuBackend(1), {}).Nominate(on, gangs),
                Engine(*device, {}).Nominate(on, gangs));
    return plan->bytes_sent - before > amounts;
  };
  const auto book = [](ClusterState& on, std::initializer_list<int> leaves) {
    for (const int leaf : leaves) on.Find("gpu")->Add(LeafId(leaf), {{"nvidia.com/gpu", 1}});
  };
  {
    ClusterState gone = state.Branch();
    EXPECT_TRUE(nominate(gone));
    book(gone, {0, 1, 8});  // two racks of eight
    EXPECT_FALSE(nominate(gone));
    EXPECT_EQ(scattered, std::vector<std::int32_t>{16});
    EXPECT_TRUE(nominate(gone.Branch())) << "another while the first one lives";
    book(gone, {100});  // nobody asks
  }
  ClusterState branch = state.Branch();
  book(branch, {9, 16});
  EXPECT_FALSE(nominate(branch));
  EXPECT_EQ(scattered, std::vector<std::int32_t>{24}) << "racks 0, 1 and 2";
  EXPECT_FALSE(nominate(state)) << "the mirror of the first";
  EXPECT_EQ(scattered, std::vector<std::int32_t>{24}) << "racks 0 and 1, and that of leaf 100";
  EXPECT_TRUE(nominate(state.Clone()));
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
}  // namespace espalier::emulated_device_test
