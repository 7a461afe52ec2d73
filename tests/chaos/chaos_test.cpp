// A share of the chaos that `make chaos` goes on with for minutes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/round.hpp"

namespace espalier::chaos {
namespace {

class ChaosTest : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ChaosTest, LosesNothingAndBooksNothingTwice) {
  const RoundResult result = ChaosRound(GetParam(), 3, 4);
  EXPECT_THAT(result.problems, testing::IsEmpty());
  EXPECT_TRUE(result.counts.clean());
  // All of it came to pass.
  EXPECT_EQ(result.counts.kills, 12);
  EXPECT_EQ(result.counts.checks, 3);
  EXPECT_GE(result.counts.loads, 12);
  EXPECT_GT(result.counts.holds, 0);
  EXPECT_GT(result.counts.confirms, 0);
  EXPECT_GT(result.counts.commits, 0);
  EXPECT_GT(result.counts.updates, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ChaosTest, testing::Values(1, 2));

}  // namespace
}  // namespace espalier::chaos
