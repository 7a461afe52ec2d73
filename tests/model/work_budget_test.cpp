#include "host/model/work_budget.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace espalier::work_budget_test {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

TEST(WorkBudget, BoundsNothingUntilItIsStopped) {
  WorkBudget budget;
  EXPECT_TRUE(budget.Charge(std::int64_t{1} << 60));
  EXPECT_TRUE(budget.MayContinue());
  EXPECT_TRUE(budget.Check());
  budget.Stop({ErrorClass::kCancelled, "gone"});
  budget.Stop({ErrorClass::kExhausted, "later"});
  EXPECT_FALSE(budget.Charge(1));
  EXPECT_FALSE(budget.MayContinue());
  EXPECT_EQ(budget.Check().error(), (Error{ErrorClass::kCancelled, "gone"}));
}

TEST(WorkBudget, StopsAtItsLimit) {
  WorkBudget budget(1000);
  EXPECT_TRUE(budget.Charge(1000));
  budget.Release(1000);
  EXPECT_TRUE(budget.Charge(900));
  EXPECT_FALSE(budget.Charge(101));
  EXPECT_TRUE(budget.stopped());
  EXPECT_EQ(budget.Check().error(),
            (Error{ErrorClass::kExhausted,
                   "needs more memory than the 1000 bytes it may hold; ask for less at once"}));
}

TEST(WorkBudget, TakesFromThePoolAndReturnsAll) {
  MemoryPool pool(100 * kMiB);
  {
    WorkBudget budget(pool, 50 * kMiB);
    EXPECT_TRUE(budget.Charge(10 * kMiB));
    EXPECT_GE(pool.held(), 10 * kMiB);
    EXPECT_LE(pool.held(), 11 * kMiB);
    EXPECT_TRUE(budget.Charge(40 * kMiB));
    EXPECT_EQ(pool.held(), 50 * kMiB);
    EXPECT_FALSE(budget.Charge(1));
    EXPECT_EQ(pool.held(), 50 * kMiB);
  }
  EXPECT_EQ(pool.held(), 0);
}

TEST(WorkBudget, LeavesRoomForOthersWhenItIsLarge) {
  MemoryPool pool(80 * kMiB);
  WorkBudget giant(pool, 80 * kMiB);
  EXPECT_TRUE(giant.Charge(69 * kMiB));
  EXPECT_FALSE(giant.Charge(2 * kMiB));  // an eighth is left
  EXPECT_EQ(giant.Check().error().error_class, ErrorClass::kExhausted);
  WorkBudget small(pool, 80 * kMiB);
  EXPECT_TRUE(small.Charge(256 << 10));
}

TEST(WorkBudget, HandsOverWhatOutlivesIt) {
  MemoryPool pool(100 * kMiB);
  MemoryHold kept;
  {
    WorkBudget budget(pool, 50 * kMiB);
    EXPECT_TRUE(budget.Charge(20 * kMiB));
    kept = budget.HandOver(15 * kMiB);
    EXPECT_EQ(budget.charged(), 5 * kMiB);
  }
  EXPECT_EQ(pool.held(), 15 * kMiB);
  EXPECT_EQ(kept.bytes(), 15 * kMiB);
  kept = MemoryHold();
  EXPECT_EQ(pool.held(), 0);
}

TEST(WorkBudget, AHoldMayOutliveItsPool) {
  MemoryHold kept;
  {
    MemoryPool pool(100 * kMiB);
    WorkBudget budget(pool, 50 * kMiB);
    EXPECT_TRUE(budget.Charge(20 * kMiB));
    kept = budget.HandOver(15 * kMiB);
  }
  EXPECT_EQ(kept.bytes(), 15 * kMiB);
  kept.Shrink(5 * kMiB);
  EXPECT_EQ(kept.bytes(), 10 * kMiB);
}

TEST(WorkBudget, PausesWhereItIsAskedTo) {
  WorkBudget budget;
  int pauses = 0;
  budget.OnPause([&] {
    if (++pauses == 2) budget.Stop({ErrorClass::kCancelled, "gone"});
  });
  EXPECT_TRUE(budget.MayContinue());
  EXPECT_EQ(pauses, 0);  // nobody asked
  budget.RequestPause();
  EXPECT_TRUE(budget.MayContinue());
  EXPECT_FALSE(budget.MayContinue());
  EXPECT_EQ(pauses, 2);
}

TEST(WorkBudget, StopsWhereTheAnswerIsTooLarge) {
  WorkBudget budget;
  budget.SetAnswerLimit(100);
  EXPECT_TRUE(budget.ChargeAnswer(100));
  EXPECT_FALSE(budget.ChargeAnswer(1));
  EXPECT_EQ(budget.Check().error().error_class, ErrorClass::kExhausted);
}

TEST(WorkBudget, ThreadsNeverTakeMoreThanThereIs) {
  MemoryPool pool(8 * kMiB);
  std::atomic<std::int64_t> granted = 0;
  {
    WorkBudget first(pool, 6 * kMiB);
    WorkBudget second(pool, 6 * kMiB);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        WorkBudget& budget = t % 2 == 0 ? first : second;
        while (budget.Charge(1000)) granted += 1000;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(first.stopped());
    EXPECT_TRUE(second.stopped());
    EXPECT_LE(pool.held(), pool.limit());
  }
  EXPECT_LE(granted, 8 * kMiB);
  EXPECT_GE(granted, 6 * kMiB);
  EXPECT_EQ(pool.held(), 0);
}

TEST(BytesText, IsShort) {
  EXPECT_EQ(BytesText(0), "0 bytes");
  EXPECT_EQ(BytesText(1023), "1023 bytes");
  EXPECT_EQ(BytesText(1024), "1 KiB");
  EXPECT_EQ(BytesText(1536 * 1024), "1.5 MiB");
  EXPECT_EQ(BytesText(std::int64_t{64} << 20), "64 MiB");
  EXPECT_EQ(BytesText(std::numeric_limits<std::int64_t>::max()), "7.9 EiB");
}

}  // namespace
}  // namespace espalier::work_budget_test
