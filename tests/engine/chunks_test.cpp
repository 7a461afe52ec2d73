// The sizes of a batch's chunks while other work waits for its turn.
#include "host/engine/chunks.hpp"

#include <cstddef>
#include <thread>

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(Chunks, AreAsLargeAsPossibleWhereNothingPauses) {
  WorkBudget budget;
  Chunks chunks(budget, 5000);
  ASSERT_TRUE(chunks.Begin());
  EXPECT_EQ(chunks.size(), 5000u);
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
  WorkBudget budget;
  budget.OnPause([] {});
  Chunks chunks(budget, 8192);
  ASSERT_TRUE(chunks.Begin());
  const std::size_t before = chunks.size();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // ten times what is wanted
  ASSERT_TRUE(chunks.Begin());
  EXPECT_LE(chunks.size(), before / 10);
  EXPECT_GE(chunks.size(), 1u);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ASSERT_TRUE(chunks.Begin());
  EXPECT_EQ(chunks.size(), 1u);
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
}  // namespace espalier
