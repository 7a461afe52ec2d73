// Batches go where they are decided sooner, by times that the tests make up.
#include "host/cuda/crossover.hpp"

#include <atomic>
#include <limits>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/cuda/emulated_device.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/faulty_device.hpp"
#include "tests/cuda/gpu_cluster.hpp"

namespace espalier::crossover_test {
namespace {

using Side = Crossover::Side;
using std::chrono::nanoseconds;

constexpr auto kForever = nanoseconds(std::numeric_limits<std::int64_t>::max());
constexpr auto kHours = nanoseconds(std::int64_t{1} << 44);

// The times of batches, in ns: one a job on the CPU; on the device a fixed part and one a job.
struct Costs {
  std::int64_t cpu_job = 3000;
  std::int64_t device_batch = 30000;
  std::int64_t device_job = 100;

  nanoseconds Of(Side side, std::int64_t jobs) const {
    return nanoseconds(side == Side::kCpu ? cpu_job * jobs : device_batch + device_job * jobs);
  }
};

class CrossoverTest : public testing::Test {
 protected:
  // Returns how many of `batches` batches of `jobs` jobs each went to the device.
  int Run(int batches, std::int64_t jobs) {
    int on_device = 0;
    for (int i = 0; i < batches; ++i) {
      const Side side = crossover_.Choose(static_cast<std::size_t>(jobs));
      crossover_.Learn(side, static_cast<std::size_t>(jobs), costs_.Of(side, jobs));
      if (side == Side::kDevice) ++on_device;
    }
    return on_device;
  }

  void RunAllSizes(int batches) {
    for (std::int64_t jobs = 1; jobs <= 4096; jobs *= 2) Run(batches, jobs);
  }

  Crossover crossover_;
  Costs costs_;
};

constexpr int kMeasured = Crossover::kMostMeasured;
constexpr int kVisit = Crossover::kVisit;

TEST_F(CrossoverTest, BeforeAnythingWasMeasuredItIsTheEstimate) {
  EXPECT_EQ(crossover_.smallest_batch(), kCrossoverBatch);
  EXPECT_EQ(crossover_.Choose(kCrossoverBatch - 1), Side::kCpu);
  EXPECT_EQ(crossover_.Choose(kCrossoverBatch), Side::kDevice);
  EXPECT_EQ(crossover_.Choose(0), Side::kCpu);
  EXPECT_EQ(crossover_.Choose(std::numeric_limits<std::size_t>::max()), Side::kDevice);
}

TEST_F(CrossoverTest, OneSideAloneMovesNothing) {
  costs_.cpu_job = 1'000'000'000;
  EXPECT_EQ(Run(kMeasured, 8), 0);
  EXPECT_EQ(crossover_.smallest_batch(), kCrossoverBatch);
}

TEST_F(CrossoverTest, ItIsWhereBothTakeAsLong) {
  RunAllSizes(20);
  EXPECT_EQ(crossover_.smallest_batch(), 16u) << "48 us against 31.6; 8 jobs are 24 against 30.8";
}

TEST_F(CrossoverTest, ADeviceThatCostsNothingTakesAllButLoneJobs) {
  costs_.device_batch = 0;
  costs_.device_job = 1;
  RunAllSizes(20);
  EXPECT_EQ(crossover_.smallest_batch(), 2u);
  EXPECT_EQ(Run(1000, 1), 0);
  EXPECT_EQ(Run(100, 2), 100);
}

TEST_F(CrossoverTest, ADeviceThatIsAlwaysSlowerTakesOnlyWhatWasNeverSeen) {
  costs_.device_job = costs_.cpu_job;
  RunAllSizes(20);
  EXPECT_EQ(crossover_.smallest_batch(), 8192u);
}

TEST_F(CrossoverTest, EqualTimesLeaveABatchWhereItIs) {
  costs_.device_batch = 0;
  costs_.device_job = costs_.cpu_job;
  RunAllSizes(20);
  EXPECT_EQ(crossover_.smallest_batch(), kCrossoverBatch);
}

// The first one apart, which was before anything was known of the other side.
TEST_F(CrossoverTest, VisitsTakeASmallPartOfTheTime) {
  for (const std::int64_t device_batch : {30000, 300000, 3000000}) {
    crossover_ = Crossover();
    costs_.device_batch = device_batch;
    const int batches = 20000;
    const int visits = Run(batches, 8);
    EXPECT_GT(visits, kVisit);
    EXPECT_EQ(visits % kVisit, 0);
    const auto away = visits * costs_.Of(Side::kDevice, 8);
    const auto at_home = (batches - visits) * costs_.Of(Side::kCpu, 8);
    EXPECT_LE((away - kVisit * costs_.Of(Side::kDevice, 8)) * Crossover::kVisitShare, at_home);
  }
}

TEST_F(CrossoverTest, TheFirstSlowBatchesOfASideAreForgotten) {
  costs_ = {.cpu_job = 3000, .device_batch = 10'000'000, .device_job = 100};  // counts all leaves
  Run(kMeasured + kVisit, 256);
  EXPECT_EQ(crossover_.Choose(256), Side::kCpu);
  costs_.device_batch = 30000;  // counts what changed
  Run(5000, 256);
  EXPECT_EQ(crossover_.Choose(256), Side::kDevice);
  EXPECT_GE(Run(1000, 256), 900);
}

TEST_F(CrossoverTest, OneOddBatchMovesNothing) {
  RunAllSizes(20000);
  crossover_.Learn(Side::kDevice, 256, kForever);
  crossover_.Learn(Side::kDevice, 8, nanoseconds(1));
  EXPECT_EQ(crossover_.smallest_batch(), 16u);
}

TEST_F(CrossoverTest, AChangeOnEitherSideMovesItAgain) {
  RunAllSizes(20);
  EXPECT_EQ(crossover_.smallest_batch(), 16u);
  costs_.device_batch = 300000;  // of the side it is on, seen at once
  RunAllSizes(20);
  EXPECT_EQ(crossover_.smallest_batch(), 128u);
  costs_.device_batch = 3000;  // of the other, seen on visits
  RunAllSizes(20000);
  EXPECT_EQ(crossover_.smallest_batch(), 2u);
  costs_.cpu_job = 10;
  RunAllSizes(20000);
  EXPECT_EQ(crossover_.smallest_batch(), 8192u);
}

TEST_F(CrossoverTest, SizesNotYetMeasuredFollow) {
  costs_.device_batch = 1;
  Run(20, 8);
  EXPECT_EQ(crossover_.smallest_batch(), 8u) << "and up";
  EXPECT_EQ(Run(1, 7), 0);
  EXPECT_EQ(Run(1, 15), 1);
  EXPECT_EQ(Run(1, 16), 1);
  costs_.device_batch = 10'000'000;
  Run(20, 256);
  EXPECT_EQ(crossover_.smallest_batch(), 512u) << "and down";
  EXPECT_EQ(Run(1, 255), 0);
  EXPECT_EQ(Run(1, 8), 1) << "was measured";
}

TEST_F(CrossoverTest, ExtremesStayExtremes) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t jobs : {std::size_t{2}, std::size_t{1} << 32, kMost}) {
    for (int i = 0; i < 1000; ++i) {
      crossover_.Learn(Side::kDevice, jobs, i % 2 == 0 ? kForever : kHours);
      crossover_.Learn(Side::kCpu, jobs, nanoseconds::min());
      crossover_.Learn(Side::kCpu, 0, nanoseconds(0));
    }
  }
  EXPECT_EQ(crossover_.Choose(2), Side::kCpu);
  EXPECT_EQ(crossover_.Choose(std::size_t{1} << 32), Side::kCpu);
  for (int i = 0; i < 1000; ++i) {
    crossover_.Learn(Side::kCpu, 2, kForever);
    crossover_.Learn(Side::kDevice, 2, nanoseconds(0));
  }
  EXPECT_EQ(crossover_.Choose(2), Side::kDevice);
}

// The CPU back end on a clock of the test's own.
class TimedCpu final : public Backend {
 public:
  TimedCpu(std::shared_ptr<std::atomic<std::int64_t>> now, const std::int64_t& a_job)
      : now_(std::move(now)), a_job_(a_job) {}
  std::string_view name() const override { return cpu_->name(); }
  void Evaluate(std::span<const PlacementJob> jobs, std::span<const Evaluation> asked,
                PlacementColumns& answers) override {
    *now_ += a_job_ * std::ssize(asked);
    cpu_->Evaluate(jobs, asked, answers);
  }

 private:
  std::shared_ptr<Backend> cpu_ = MakeCpuBackend(1);
  std::shared_ptr<std::atomic<std::int64_t>> now_;
  const std::int64_t& a_job_;
};

class MeasuredBackend : public testing::Test {
 protected:
  MeasuredBackend() {
    plan_->on_call = [this](const KernelCall&) { *now_ += a_kernel_; };
    DeviceBackendOptions options;
    options.now = [now = now_] {
      return std::chrono::steady_clock::time_point(nanoseconds(now->load()));
    };
    backend_ = DeviceBackend::Make(
                   "emulated",
                   [this]() -> DeviceResult<std::unique_ptr<Device>> {
                     return std::make_unique<FaultyDevice>(MakeEmulatedDevice(), plan_);
                   },
                   std::make_shared<TimedCpu>(now_, a_job_), options)
                   .value_or(nullptr);
  }

  // Asks for batches of `gangs`, each answered as by the CPU. Returns how many jobs the device
  // decided.
  std::uint64_t Ask(int batches, int gangs) {
    const std::vector<WorkloadRequest> queue = MakeGangs(gangs, 2);
    const auto right = Engine(MakeCpuBackend(1), {}).Nominate(state_, queue);
    const std::uint64_t before = backend_->status().jobs_on_device;
    for (int i = 0; i < batches; ++i) {
      ExpectEqual(right, Engine(backend_, {}).Nominate(state_, queue));
    }
    return backend_->status().jobs_on_device - before;
  }

  std::shared_ptr<std::atomic<std::int64_t>> now_ = std::make_shared<std::atomic<std::int64_t>>(0);
  std::int64_t a_job_ = 1000;  // on the CPU
  std::int64_t a_kernel_ = 1;  // on the device
  std::shared_ptr<FaultPlan> plan_ = std::make_shared<FaultPlan>();
  std::shared_ptr<DeviceBackend> backend_;
  ClusterState state_ = Build(MakeGpuCluster(2, 4, 6, 1));
};

TEST_F(MeasuredBackend, SmallBatchesGoToADeviceThatIsFast) {
  ASSERT_NE(backend_, nullptr);
  EXPECT_EQ(backend_->status().crossover_jobs, kCrossoverBatch);
  EXPECT_EQ(Ask(1, 8), 0u);
  EXPECT_GT(Ask(30, 8), 0u);
  EXPECT_LT(backend_->status().crossover_jobs, kCrossoverBatch);
  EXPECT_GT(Ask(1, 8), 0u);
}

TEST_F(MeasuredBackend, LargeBatchesLeaveADeviceThatIsSlow) {
  a_kernel_ = 1'000'000;
  EXPECT_GT(Ask(1, 64), 0u);
  Ask(30, 64);
  EXPECT_GT(backend_->status().crossover_jobs, kCrossoverBatch);
  EXPECT_EQ(Ask(1, 64), 0u);
  a_kernel_ = 1;
  a_job_ = 1'000'000;  // slow enough for a visit
  EXPECT_GT(Ask(300, 64), 0u);
  EXPECT_LE(backend_->status().crossover_jobs, kCrossoverBatch);
}

// Answers of the CPU in the device's stead are no measurements of the device.
TEST_F(MeasuredBackend, ADeviceThatIsAwayIsNotMeasured) {
  plan_->fail_at = 1;
  EXPECT_EQ(Ask(kMeasured + 1, 64), 0u);
  a_job_ /= 2;  // on a visit the CPU would be sooner
  EXPECT_EQ(Ask(30, 64), 0u);
  EXPECT_EQ(backend_->status().crossover_jobs, kCrossoverBatch);
  EXPECT_FALSE(backend_->status().ready);
}

TEST_F(MeasuredBackend, LoneJobsStayOnTheCpu) {
  a_kernel_ = 0;
  a_job_ = 1'000'000'000;
  EXPECT_EQ(Ask(100, 1), 0u);
}

}  // namespace
}  // namespace espalier::crossover_test
