// Sequences of launches that come again are kept as graphs.
#include "host/cuda/repeated_launches.hpp"

#include <gtest/gtest.h>

namespace espalier::repeated_launches_test {
namespace {

// Two kernels that differ from other sequences in `id`.
std::vector<KernelCall> Sequence(std::int32_t id) {
  return {RollUpArgs{{}, id}, ScanArgs{nullptr, nullptr, id}};
}

class RepeatedLaunchesTest : public testing::Test {
 protected:
  const int* Find(const std::vector<KernelCall>& calls) {
    return launches_.Find(calls, [&](std::span<const KernelCall> same) {
      EXPECT_TRUE(std::ranges::equal(same, calls));
      return refuse_ ? std::nullopt : std::optional(++recorded_);
    });
  }

  RepeatedLaunches<int> launches_;
  int recorded_ = 0;
  bool refuse_ = false;
};

TEST_F(RepeatedLaunchesTest, TheSecondTimeMakesAGraph) {
  EXPECT_EQ(Find(Sequence(1)), nullptr);
  const int* graph = Find(Sequence(1));
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(Find(Sequence(1)), graph);
  EXPECT_EQ(recorded_, 1);
}

TEST_F(RepeatedLaunchesTest, EveryArgumentCounts) {
  std::vector<KernelCall> calls = Sequence(1);
  Find(calls);
  std::get<RollUpArgs>(calls.front()).shape_count = 7;
  EXPECT_EQ(Find(calls), nullptr);
  std::ranges::reverse(calls);
  EXPECT_EQ(Find(calls), nullptr);
  calls.pop_back();
  calls.push_back(calls.front());
  EXPECT_EQ(Find(calls), nullptr);
}

TEST_F(RepeatedLaunchesTest, OneKernelIsNotWorthAGraph) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Find({RollUpArgs{}}), nullptr);
}

TEST_F(RepeatedLaunchesTest, WhatCannotBeRecordedIsNotAskedForAgain) {
  refuse_ = true;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Find(Sequence(1)), nullptr);
  refuse_ = false;
  EXPECT_EQ(Find(Sequence(1)), nullptr);
}

TEST_F(RepeatedLaunchesTest, TheOldestGiveWay) {
  for (std::int32_t id = 0; id < 100; ++id) {
    Find(Sequence(0));
    Find(Sequence(id));
  }
  EXPECT_EQ(*Find(Sequence(0)), 1) << "in use all the time";
  EXPECT_EQ(Find(Sequence(50)), nullptr) << "forgotten";
  EXPECT_NE(Find(Sequence(99)), nullptr);
}

}  // namespace
}  // namespace espalier::repeated_launches_test
