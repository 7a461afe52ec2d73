// A share of the chaos that `make chaos` goes on with for minutes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/chaos/round.hpp"

namespace espalier::chaos::chaos_test {
namespace {

TEST(Chaos, LosesNothingAndBooksNothingTwice) {
  const RoundResult result = ChaosRound(36, 3, 4);
  EXPECT_THAT(result.problems, testing::IsEmpty());
  EXPECT_TRUE(result.counts.clean());
  // All of it came to pass.
  EXPECT_EQ(result.counts.kills, 12);
  EXPECT_EQ(result.counts.checks, 3);
  EXPECT_GE(result.counts.loads, 3);
  EXPECT_GT(result.counts.holds, 0);
  EXPECT_GT(result.counts.confirms, 0);
  EXPECT_GT(result.counts.commits, 0);
  EXPECT_GT(result.counts.updates, 0);
  EXPECT_GT(result.counts.stops, 0);
  EXPECT_GT(result.counts.full_disks, 0);
  EXPECT_GT(result.counts.certificates, 0);
  EXPECT_GT(result.counts.half_open, 0);
}

}  // namespace
}  // namespace espalier::chaos::chaos_test
