// The sizes of a batch's chunks while other work waits for its turn.
#include "host/engine/chunks.hpp"

#include <chrono>
#include <cstddef>

#include <gtest/gtest.h>

namespace espalier::chunks_test {
namespace {

TEST(Chunks, AreAsLargeAsPossibleWhereNothingPauses) {
  WorkBudget budget;
  Chunks chunks(budget, 5000);
  ASSERT_TRUE(chunks.Begin());
  EXPECT_EQ(chunks.size(), 5000u);
}

TEST(Chunks, BeginWithWhatIsQuick) {
  WorkBudget budget;
  budget.OnPause([] {});
  Chunks chunks(budget, 8192, 1000);
  ASSERT_TRUE(chunks.Begin());
  EXPECT_EQ(chunks.size(), 1000u);
}

// A long run of cheap items must not be followed by a large chunk of dear ones.
TEST(Chunks, GrowByAnEighthOfWhatWasDone) {
  WorkBudget budget;
  budget.OnPause([] {});
  Chunks chunks(budget, 8192);
  ASSERT_TRUE(chunks.Begin());
  const std::size_t first = chunks.size();
  std::size_t done = 0;
  for (int i = 0; i < 30; ++i) {
    done += chunks.size();
    ASSERT_TRUE(chunks.Begin());
    EXPECT_LE(chunks.size(), first + done / 8 + 30);
  }
}

TEST(Chunks, ShrinkAtOnceAfterASlowOne) {
  EXPECT_EQ(Chunks::NextSize(64, 10 * Chunks::kWanted, 8192), 6u);
  EXPECT_EQ(Chunks::NextSize(64, 100 * Chunks::kWanted, 8192), 1u);
  EXPECT_EQ(Chunks::NextSize(1, std::chrono::hours(1), 8192), 1u);
}

TEST(Chunks, StayOrGrowALittleAfterAQuickOne) {
  EXPECT_EQ(Chunks::NextSize(64, Chunks::kWanted, 8192), 64u);
  EXPECT_EQ(Chunks::NextSize(64, Chunks::kWanted / 2, 8192), 64u);
  EXPECT_EQ(Chunks::NextSize(64, Chunks::kWanted / 4, 8192), 73u);
  EXPECT_EQ(Chunks::NextSize(1, {}, 8192), 2u);
  EXPECT_EQ(Chunks::NextSize(64, {}, 70), 70u);
}

TEST(Chunks, EndWhereTheWorkIsStopped) {
  WorkBudget budget;
  budget.OnPause([&] { budget.Stop({ErrorClass::kExhausted, "enough"}); });
  Chunks chunks(budget, 100);
  ASSERT_TRUE(chunks.Begin());
  budget.RequestPause();
  EXPECT_FALSE(chunks.Begin());
}

}  // namespace
}  // namespace espalier::chunks_test
