#include "bench/scenarios/measure.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "bench/scenarios/floors.hpp"

namespace espalier::measure_test {
namespace {

TEST(Percentile, IsAMeasuredValueByNearestRank) {
  const std::vector<double> ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(Percentile(ten, 50), 5);
  EXPECT_EQ(Percentile(ten, 51), 6);
  EXPECT_EQ(Percentile(ten, 90), 9);
  EXPECT_EQ(Percentile(ten, 99), 10);
  EXPECT_EQ(Percentile(ten, 100), 10);
  EXPECT_EQ(Percentile(ten, 0.1), 1);
  EXPECT_EQ(Percentile(std::vector<double>{7}, 50), 7);
}

TEST(Percentile, OfAThousandLeavesTenAbove) {
  std::vector<double> thousand;
  for (int i = 1; i <= 1000; ++i) thousand.push_back(i);
  EXPECT_EQ(Percentile(thousand, 99), 990);
}

TEST(Repeat, RunsExactlyAsOftenAsAsked) {
  int runs = 0;
  const auto stages = Repeat({.repeats = 5}, [&](StageTimes& times) {
    times.Add("a", 6 - ++runs);
    times.Add("b", 1);
  });
  EXPECT_EQ(runs, 3 + 5);  // three that do not count
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].name, "a");
  EXPECT_EQ(stages[0].seconds, (std::vector<double>{-2, -1, 0, 1, 2}));
  EXPECT_EQ(stages[1].seconds.size(), 5U);
}

TEST(Repeat, OnceIsOnceWithoutWarmUp) {
  int runs = 0;
  Repeat({.repeats = 1}, [&](StageTimes& times) { times.Add("a", ++runs); });
  EXPECT_EQ(runs, 1);
}

TEST(Repeat, WantsThirtyOfLongRunsAndAThousandOfShortOnes) {
  const auto repeats = [](double seconds) {
    return Repeat({.repeats = 0, .seconds = 1e9},
                  [&](StageTimes& times) { times.Add("a", seconds); })
        .front()
        .seconds.size();
  };
  EXPECT_EQ(repeats(1), 30U);
  EXPECT_EQ(repeats(1e-6), 1000U);
}

TEST(Repeat, EndsEarlyButNotBeforeThree) {
  const auto stages =
      Repeat({.repeats = 0, .seconds = 0}, [](StageTimes& times) { times.Add("a", 1); });
  EXPECT_EQ(stages.front().seconds.size(), 3U);
}

TEST(Floors, TheLongerOfCountingAndReadingIsTheFloor) {
  const MachineFloors floors = {.threads = 1,
                                .bytes_per_second = 10,
                                .cached_bytes_per_second = 1000,
                                .cells_per_second = 100,
                                .counting_form = "plain"};
  EXPECT_DOUBLE_EQ(FloorSeconds({.cells = 200, .bytes = 0}, floors), 2);
  EXPECT_DOUBLE_EQ(FloorSeconds({.cells = 200, .bytes = 5000}, floors), 5);
  const double large = kCachedBytes + 10;
  EXPECT_DOUBLE_EQ(FloorSeconds({.cells = 0, .bytes = large}, floors), large / 10);
  EXPECT_DOUBLE_EQ(FloorSeconds({}, floors), 0);
}

TEST(Floors, AreMeasured) {
  const MachineFloors floors = MeasureFloors(2);
  EXPECT_EQ(floors.threads, 2);
  EXPECT_GT(floors.bytes_per_second, 0);
  EXPECT_GT(floors.cached_bytes_per_second, 0);
  EXPECT_GT(floors.cells_per_second, 0);
}

// The loop does what it is timed for: whole minima over all resources, summed over nodes.
TEST(Floors, CountingLoopCounts) {
  constexpr std::int64_t kNodes = 32;
  constexpr std::int64_t kResources = 3;
  std::vector<float> free(kNodes * kResources);
  for (std::size_t i = 0; i < free.size(); ++i) free[i] = static_cast<float>((i * 7) % 64);
  std::vector<float> inverse(kResources * 8, 0.5F);
  std::vector<float> sums(8, 0);
  BestCountingLoop().count(free.data(), kNodes, kResources, inverse.data(), sums.data());
  float expected = 0;
  for (std::int64_t node = 0; node < kNodes; ++node) {
    float least = 1e9F;
    for (std::int64_t r = 0; r < kResources; ++r) {
      least = std::min(least, free[static_cast<std::size_t>(r * kNodes + node)] * 0.5F);
    }
    expected += least;
  }
  for (const float sum : sums) EXPECT_EQ(sum, expected);
}

}  // namespace
}  // namespace espalier::measure_test
