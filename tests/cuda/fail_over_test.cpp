// Tests that a request in flight is answered when the device fails, and that the status says so.
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/emulated_device.hpp"
#include "host/engine/engine.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/faulty_device.hpp"
#include "tests/cuda/gpu_cluster.hpp"
#include "tests/engine/asked_domains.hpp"
#include "tests/engine/counted.hpp"

namespace espalier::fail_over_test {
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
          return std::make_unique<FaultyDevice>(MakeEmulatedDevice(emulated_), plan_);
        },
        MakeCpuBackend(1), options);
    return backend.value_or(nullptr);
  }

  std::vector<WorkloadAnswer> Ask(const std::shared_ptr<Backend>& backend) {
    return Engine(backend, {}).Nominate(*state_, gangs_);
  }

  std::shared_ptr<FaultPlan> plan_ = std::make_shared<FaultPlan>();
  EmulatedDeviceOptions emulated_;
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

// The jobs of the gangs on a cluster and on a branch of it, counted in more waves than there are
// states.
class CountsFailOver : public FailOver {
 protected:
  CountsFailOver() : branch_(state_->Branch()) {
    branch_.Find("gpu")->Add(LeafId(3), {{"nvidia.com/gpu", 1}});
    const FeatureGates gates;
    const ClusterState* const states[] = {state_.get(), &branch_};
    for (const ClusterState* state : states) {
      for (const WorkloadRequest& gang : gangs_) {
        WorkloadPlacement placement(gang, *state, gates);
        const PlacementJob* job = placement.NextJob();
        if (job != nullptr) jobs_.push_back(*job);
      }
    }
    counts_ = CountOneByOne(*MakeCpuBackend(1), jobs_);
    Random random(3);
    asked_ = std::make_unique<AskedDomains>(jobs_, random);
    read_ = asked_->Expected(counts_);
  }

  void MakeMemorySmall() { plan_->memory_bytes = 2 << 10; }

  ClusterState branch_;
  std::vector<PlacementJob> jobs_;
  std::vector<Counted> counts_;
  std::unique_ptr<AskedDomains> asked_;
  std::vector<ReadOfDomains> read_;
};

TEST_F(CountsFailOver, ManyWavesCountWhatMemoryHasNoRoomFor) {
  int waits = 0;
  plan_->on_wait = [&] { ++waits; };
  const auto backend = Make();
  EXPECT_EQ(CountEach(*backend, jobs_), counts_);
  EXPECT_EQ(std::exchange(waits, 0), 2) << "one of each state";
  MakeMemorySmall();
  EXPECT_EQ(CountEach(*Make(), jobs_), counts_);
  EXPECT_GT(waits, 8);
  EXPECT_EQ(plan_->bytes_read_uncleared, 0u);
  EXPECT_EQ(backend->status().jobs_on_device, jobs_.size());
  EXPECT_EQ(backend->status().jobs_on_cpu, 0u);
}

TEST_F(CountsFailOver, ManyWavesReadWhatMemoryHasNoRoomFor) {
  int waits = 0;
  plan_->on_wait = [&] { ++waits; };
  const auto backend = Make();
  ExpectSame(asked_->Ask(*backend), read_);
  EXPECT_EQ(std::exchange(waits, 0), 2) << "one of each state";
  MakeMemorySmall();
  ExpectSame(asked_->Ask(*Make()), read_);
  EXPECT_GT(waits, 8);
  EXPECT_EQ(plan_->bytes_read_uncleared, 0u);
}

TEST_F(CountsFailOver, WhatIsNotReadAtAFaultTheCpuReads) {
  MakeMemorySmall();
  const auto works = Make();
  asked_->Ask(*works);
  const int calls = plan_->calls;
  ASSERT_GT(calls, 40);
  for (int fail_at = 1; fail_at <= calls; ++fail_at) {
    SCOPED_TRACE(fail_at);
    *plan_ = {};
    MakeMemorySmall();
    const auto backend = Make();
    plan_->fail_at = fail_at;
    ExpectSame(asked_->Ask(*backend), read_);
    const DeviceStatus status = backend->status();
    EXPECT_EQ(status.faults, 1u);
    EXPECT_EQ(status.jobs_on_cpu + status.jobs_on_device, jobs_.size());
  }
}

TEST_F(CountsFailOver, WhatIsNotCountedAtAFaultTheCpuCounts) {
  MakeMemorySmall();
  const auto works = Make();
  CountEach(*works, jobs_);
  const int calls = plan_->calls;
  ASSERT_GT(calls, 40);
  bool some_on_device = false;
  for (int fail_at = 1; fail_at <= calls; ++fail_at) {
    *plan_ = {};
    MakeMemorySmall();
    const auto backend = Make();
    plan_->fail_at = fail_at;
    EXPECT_EQ(CountEach(*backend, jobs_), counts_) << "call " << fail_at;
    const DeviceStatus status = backend->status();
    EXPECT_FALSE(status.ready);
    EXPECT_EQ(status.faults, 1u);
    EXPECT_GT(status.jobs_on_cpu, 0u);
    EXPECT_EQ(status.jobs_on_cpu + status.jobs_on_device, jobs_.size());
    some_on_device = some_on_device || status.jobs_on_device > 0;
  }
  EXPECT_TRUE(some_on_device);
}

TEST_F(CountsFailOver, ADeviceThatIsAwayOrNotAskedForLeavesAllToTheCpu) {
  const auto backend = Make();
  plan_->fail_at = 1;
  CountEach(*backend, jobs_);
  plan_->fail_at = -1;
  EXPECT_EQ(CountEach(*backend, jobs_), counts_);
  EXPECT_EQ(backend->status().jobs_on_device, 0u);
  EXPECT_EQ(backend->status().jobs_declined, 0u);
  const auto learning = Make({});
  EXPECT_EQ(CountEach(*learning, jobs_), counts_);
  EXPECT_EQ(learning->status().jobs_on_cpu, jobs_.size());
}

// On a branch only the leaves of groups are counted that differ from a state that is gone.
TEST_F(FailOver, ABranchIsCountedWhereItDiffers) {
  std::int32_t counted = 0;  // racks
  plan_->on_call = [&](const KernelCall& call) {
    if (const auto* one = std::get_if<CountGroupsArgs>(&call)) {
      counted = std::max(counted, one->groups.size);
    } else if (const auto* batch = std::get_if<CountGroupBatchesArgs>(&call)) {
      counted = std::max(counted, batch->groups.size);
    } else if (const auto* classes = std::get_if<SumClassesArgs>(&call)) {
      counted = std::max(counted, classes->group_count);
    }
  };
  gangs_.resize(1);
  gangs_[0] = MakeGangs(40, 2)[0];
  const auto backend = Make();
  const auto ask = [&] {
    counted = 0;
    EXPECT_EQ(Ask(backend), Engine(MakeCpuBackend(1), {}).Nominate(*state_, gangs_));
    return counted;
  };
  EXPECT_EQ(ask(), 2 * 4);
  EXPECT_EQ(ask(), 0);
  for (const std::int32_t leaf : {0, 13, 47}) {
    auto branch = std::make_unique<ClusterState>(state_->Branch());
    branch->Find("gpu")->Add(LeafId(leaf), {{"nvidia.com/gpu", 1}});
    EXPECT_EQ(std::exchange(state_, std::move(branch)) != nullptr, true);
    EXPECT_EQ(ask(), 1) << "the rack of the leaf";
    EXPECT_EQ(ask(), 0);
  }
  const auto living = std::exchange(state_, std::make_unique<ClusterState>(state_->Branch()));
  EXPECT_EQ(ask(), 2 * 4) << "the counts of a state that is there stay its own";
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
  EXPECT_EQ(backend->status().jobs_declined, 0u) << "the device was not asked";
  EXPECT_EQ(backend->status().fault->fault, DeviceFault::kOutOfMemory);
}

TEST_F(FailOver, BatchesBeginWithWhatKeepsTheDeviceBusyThatIsThere) {
  emulated_.concurrent_blocks = 132;
  const auto backend = Make();
  EXPECT_EQ(backend->quick_batch(), 8u * 132u);
  plan_->fail_at = 5;
  Ask(backend);
  EXPECT_EQ(backend->quick_batch(), kQuickBatch);
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

// Checkers of GPU memory report what is read before it was written, padding too.
TEST_F(FailOver, WhatComesBackWasWrittenBefore) {
  const auto backend = Make();
  EXPECT_EQ(Ask(backend), right_);
  gangs_ = MakeGangs(200, 3);  // more answers than there was room for
  Ask(backend);
  EXPECT_EQ(backend->status().faults, 0u);
  EXPECT_EQ(plan_->bytes_read_uncleared, 0u);
}

// Counts of states that are gone serve nobody.
TEST_F(FailOver, CountsOfStatesThatAreGoneGiveTheirMemoryBack) {
  const auto backend = Make();
  std::size_t bytes = 0;
  for (int i = 0; i < 40; ++i) {
    ClusterState branch = state_->Branch();
    EXPECT_EQ(Engine(backend, {}).Nominate(branch, gangs_), right_);
    if (i == 1) bytes = plan_->bytes_allocated();  // of two states, one of them gone
    if (i > 1) {
      EXPECT_LE(plan_->bytes_allocated(), bytes) << i;
    }
  }
}

// A wait for the device that does not end before it is released.
class Stuck {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    waiting_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return released_; });
  }
  // Returns once somebody waits.
  void AwaitWaiter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_; });
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool waiting_ = false;  // guarded by mutex_, as below
  bool released_ = false;
};

// One that is stuck on the device holds nobody up.
TEST_F(FailOver, WhoWaitsTooLongForTheDeviceIsAnsweredByTheCpu) {
  Stuck stuck_wait;
  plan_->on_wait = [&] { stuck_wait.Wait(); };
  DeviceBackendOptions options = EveryBatch();
  options.patience = std::chrono::milliseconds(1);
  const auto backend = Make(options);
  std::vector<WorkloadAnswer> stuck;
  std::thread first([&] { stuck = Ask(backend); });
  stuck_wait.AwaitWaiter();
  EXPECT_EQ(Ask(backend), right_);
  EXPECT_EQ(backend->status().jobs_on_device, 0u);
  EXPECT_GT(backend->status().jobs_on_cpu, 0u);
  stuck_wait.Release();
  first.join();
  EXPECT_EQ(stuck, right_);
  EXPECT_GT(backend->status().jobs_on_device, 0u);
  EXPECT_EQ(backend->status().faults, 0u);
}

TEST_F(FailOver, WhoseWorkIsStoppedWaitsNoLonger) {
  Stuck stuck_wait;
  plan_->on_wait = [&] { stuck_wait.Wait(); };
  DeviceBackendOptions options = EveryBatch();
  options.patience = std::chrono::hours(1);
  const auto backend = Make(options);
  std::thread first([&] { Ask(backend); });
  stuck_wait.AwaitWaiter();
  MemoryPool pool(1 << 30);
  WorkBudget budget(pool, 1 << 30);
  std::thread second([&] { Engine(backend, {}, budget).Nominate(*state_, gangs_); });
  budget.Stop({ErrorClass::kCancelled, "nobody waits"});
  second.join();
  stuck_wait.Release();
  first.join();
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
}  // namespace espalier::fail_over_test
