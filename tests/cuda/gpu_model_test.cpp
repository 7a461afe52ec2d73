// Predictions are what the arithmetic says: more work takes longer, and the slowest part counts.
#include "bench/gpu_model/gpu_model.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "bench/gpu_model/predicting_device.hpp"
#include "host/cuda/emulated_device.hpp"

namespace espalier::gpu_model_test {
namespace {

const ModelSizes kSizes{{16, 256, 8192, 131072}, 8};
constexpr GpuFigures kH100 = kModelledGpus[0];
constexpr GpuFigures kH200 = kModelledGpus[1];

CountShapeBatchesArgs Counting(std::int32_t leaves, std::int32_t batches) {
  CountShapeBatchesArgs args;
  args.leaves.size = leaves;
  args.batch_count = batches;
  return args;
}

TEST(GpuModelTest, CountingManyShapesIsBoundByInstructions) {
  const double seconds = KernelSeconds(kH100, kSizes, Counting(131072, 32));
  // 131,072 leaves x 256 shapes x (8 columns x 8.25 instructions + 30) by warps of 32.
  EXPECT_NEAR(seconds, 131072.0 * 256 / 32 * 96 / (132 * 3 * 1.755e9), 1e-9);
  EXPECT_EQ(seconds, KernelSeconds(kH200, kSizes, Counting(131072, 32)));
  EXPECT_NEAR(KernelSeconds(kH100, kSizes, Counting(131072, 64)), 2 * seconds, 1e-9);
}

// Without counts of leaves and a first roll-up of them, and without amounts.
TEST(GpuModelTest, ClassesOfLeavesAreSooner) {
  CountGroupBatchesArgs by_amounts;
  by_amounts.groups.size = 8192;
  by_amounts.batch_count = 625;
  SumClassesArgs by_classes;
  by_classes.group_count = 8192;
  by_classes.batch_count = 625;
  const double counting = KernelSeconds(kH100, kSizes, Counting(131072, 625));
  const double summing = KernelSeconds(kH100, kSizes, by_amounts);
  EXPECT_LE(summing, counting);
  EXPECT_LT(10 * KernelSeconds(kH100, kSizes, by_classes), summing);
}

// A decision counts the leaves that it reaches.
TEST(GpuModelTest, ReachingMoreLeavesTakesLonger) {
  DecideArgs decide;
  decide.job_count = 5000;
  ModelSizes more = kSizes;
  more.reached_leaves = 256;
  EXPECT_GT(KernelSeconds(kH100, more, decide), KernelSeconds(kH100, kSizes, decide));
}

TEST(GpuModelTest, CountingFewLeavesIsBoundByLatency) {
  EXPECT_EQ(KernelSeconds(kH100, kSizes, Counting(1024, 1)),
            KernelSeconds(kH100, kSizes, Counting(2048, 1)));
}

TEST(GpuModelTest, MovingMuchIsBoundByMemory) {
  ScatterArgs args;
  args.size = 1 << 24;
  args.columns = 8;
  const double bytes = 20.0 * args.size * args.columns;
  EXPECT_NEAR(KernelSeconds(kH100, kSizes, args), bytes / 3.35e12, 1e-9);
  EXPECT_NEAR(KernelSeconds(kH200, kSizes, args), bytes / 4.8e12, 1e-9);
}

// Few questions wait for their widest level; many read all levels that they ask from memory.
TEST(GpuModelTest, ReadingDomainsIsBoundByTheirLevels) {
  ReadDomainsArgs racks;
  racks.level_end = 3;
  racks.reading_count = 1;
  ReadDomainsArgs leaves = racks;
  leaves.level_end = 4;
  EXPECT_GT(KernelSeconds(kH100, kSizes, leaves), 4 * KernelSeconds(kH100, kSizes, racks));
  leaves.reading_count = 5000;
  const double domains = 5000.0 * (16 + 256 + 8192 + 131072);
  EXPECT_GE(KernelSeconds(kH100, kSizes, leaves), 4 * domains / 3.35e12);
}

TEST(GpuModelTest, AWarpsDecisionsDoNotDependOnTheWidthOfALevel) {
  DecideSmallArgs small;
  small.job_count = 5000;
  const ModelSizes narrow{{16, 64, 512, 8192}, 8};
  EXPECT_EQ(KernelSeconds(kH100, kSizes, small), KernelSeconds(kH100, narrow, small));
  DecideArgs wide;
  wide.job_count = 5000;
  EXPECT_GT(KernelSeconds(kH100, kSizes, wide), KernelSeconds(kH100, narrow, wide));
}

// One gang after the other, whose pieces are counted on all processors.
TEST(GpuModelTest, InOrderEveryGangTakesItsTime) {
  DecideInOrderArgs few;
  few.job_count = 1000;
  DecideInOrderArgs many;
  many.job_count = 2000;
  const double seconds = KernelSeconds(kH100, kSizes, few);
  EXPECT_NEAR(KernelSeconds(kH100, kSizes, many), 2 * seconds, 1e-9);
  const ModelSizes narrow{{16, 64, 512, 8192}, 8};
  EXPECT_LT(KernelSeconds(kH100, narrow, few), seconds);
  EXPECT_GT(seconds, 1000 * kH100.load_seconds);
}

TEST(GpuModelTest, AnswersOfManyJobsAreMovedAtOnce) {
  CompactArgs few;
  few.job_count = 1;
  CompactArgs many;
  many.job_count = 5000;
  EXPECT_EQ(KernelSeconds(kH100, kSizes, few), KernelSeconds(kH100, kSizes, many));
}

TEST(GpuModelTest, APredictionSumsUpWhatIsQueued) {
  Predictor predictor;
  PredictingDevice device(MakeEmulatedDevice(), predictor);
  predictor.Start(kSizes);
  const auto memory = device.Allocate(4096);
  ASSERT_TRUE(memory);
  const std::array<std::byte, 4096> bytes = {};
  ASSERT_TRUE(device.CopyToDevice(*memory, bytes.data(), bytes.size()));
  const KernelCall call = ScatterArgs{};
  ASSERT_TRUE(device.Launch({&call, 1}));
  ASSERT_TRUE(device.Synchronize());
  device.Free(*memory);
  const Prediction& on_h100 = predictor.predictions()[0];
  EXPECT_EQ(on_h100.launches, kH100.launch_seconds);
  EXPECT_EQ(on_h100.waits, kH100.wait_seconds);
  EXPECT_GT(on_h100.copies, 4096 / kH100.bus_bytes_per_second);
  const double kernels = std::accumulate(on_h100.kernels.begin(), on_h100.kernels.end(), 0.0);
  EXPECT_EQ(on_h100.total(), on_h100.launches + on_h100.copies + on_h100.waits + kernels);
  predictor.Start(kSizes);
  EXPECT_EQ(predictor.predictions()[0].total(), 0);
}

}  // namespace
}  // namespace espalier::gpu_model_test
