// Turns between tasks, without a connection.
#include "service/server/work_queue.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace espalier::work_queue_test {
namespace {

// A task that computes until it is told to end, pausing whenever it is asked to.
class Giant {
 public:
  Giant(WorkQueue& queue, std::string client) {
    posted_ = queue.TryPost({std::move(client), &budget_,
                             [this] {
                               begun_.set_value();
                               while (!end_) {
                                 budget_.MayContinue();
                                 ++rounds_;
                               }
                             },
                             [this] { done_.set_value(); }});
  }
  ~Giant() { End(); }

  bool posted() const { return posted_; }
  void WaitBegun() { begun_.get_future().wait(); }
  std::int64_t rounds() const { return rounds_; }
  void End() {
    end_ = true;
    if (posted_ && done_future_.valid()) done_future_.get();
  }

 private:
  WorkBudget budget_;
  std::atomic<bool> end_ = false;
  std::atomic<std::int64_t> rounds_ = 0;
  bool posted_ = false;
  std::promise<void> begun_;
  std::promise<void> done_;
  std::future<void> done_future_ = done_.get_future();
};

// Posts a task that does nothing and waits until it is done.
void RunSmall(WorkQueue& queue, const std::string& client) {
  WorkBudget budget;
  std::promise<void> done;
  ASSERT_TRUE(queue.TryPost({client, &budget, [] {}, [&] { done.set_value(); }}));
  done.get_future().wait();
}

TEST(WorkQueue, AShortTaskPassesLongOnes) {
  WorkQueue queue(1, 10);
  Giant first(queue, "a");
  first.WaitBegun();
  Giant second(queue, "b");
  for (int i = 0; i < 20; ++i) RunSmall(queue, i % 2 == 0 ? "a" : "c");
  second.WaitBegun();  // long tasks take turns
  const std::int64_t before = first.rounds();
  while (first.rounds() == before) RunSmall(queue, "c");
}

TEST(WorkQueue, EachLongTaskGetsItsTurnBesideAFloodOfShortOnes) {
  WorkQueue queue(1, 100);
  Giant giant(queue, "a");
  giant.WaitBegun();
  std::atomic<bool> end = false;
  std::vector<std::thread> flood;
  for (int t = 0; t < 4; ++t) {
    flood.emplace_back([&] {
      while (!end) RunSmall(queue, "b");
    });
  }
  for (int turn = 0; turn < 20; ++turn) {
    const std::int64_t before = giant.rounds();
    while (giant.rounds() == before) std::this_thread::yield();
  }
  end = true;
  for (std::thread& thread : flood) thread.join();
}

TEST(WorkQueue, RefusesWhatIsTooMuch) {
  WorkQueue queue(1, 1);
  Giant first(queue, "a");
  Giant second(queue, "b");
  EXPECT_TRUE(second.posted());
  Giant third(queue, "c");
  EXPECT_FALSE(third.posted());
  first.End();
  second.End();
  RunSmall(queue, "c");
}

TEST(WorkQueue, AClientLeavesPlacesToOthers) {
  WorkQueue queue(1, 15);
  std::vector<std::unique_ptr<Giant>> giants;
  for (int i = 0; i < 20; ++i) giants.push_back(std::make_unique<Giant>(queue, "a"));
  EXPECT_EQ(std::ranges::count_if(giants, [](const auto& giant) { return giant->posted(); }), 12);
  RunSmall(queue, "b");
}

TEST(WorkQueue, RefusesWhatWouldComeTooLate) {
  using Clock = WorkQueue::Clock;
  std::atomic<int> done = 0;
  std::vector<WorkBudget> budgets(6);
  {
    WorkQueue queue(1, 100);
    const auto post = [&](std::size_t i, std::string client, std::function<void()> run,
                          Clock::time_point deadline) {
      return queue.TryPost(
          {std::move(client), &budgets[i], std::move(run), [&] { ++done; }, deadline});
    };
    const auto nothing = [] {};
    const Clock::time_point never = Clock::time_point::max();
    // The first one tells how long they take; the second holds the only turn.
    std::latch held(1);
    std::latch release(1);
    const auto compute = [] {
      const auto start = Clock::now();
      while (Clock::now() == start) continue;
    };
    const auto hold = [&] {
      held.count_down();
      release.wait();
    };
    ASSERT_TRUE(post(0, "a", compute, never));
    ASSERT_TRUE(post(1, "a", hold, never));
    held.wait();
    EXPECT_TRUE(post(2, "a", nothing, never));
    EXPECT_TRUE(post(3, "a", nothing, Clock::now() + std::chrono::hours(1)));
    EXPECT_FALSE(post(4, "a", nothing, Clock::now())) << "two others of its client come before it";
    EXPECT_TRUE(post(5, "b", nothing, Clock::now())) << "who has nothing waiting is next";
    release.count_down();
  }
  EXPECT_EQ(done, 5);
}

TEST(WorkQueue, RunsWhatWasPostedBeforeItEnds) {
  std::atomic<int> done = 0;
  std::vector<WorkBudget> budgets(50);
  {
    WorkQueue queue(2, 100);
    for (WorkBudget& budget : budgets) {
      ASSERT_TRUE(queue.TryPost({"a", &budget, [] {}, [&] { ++done; }}));
    }
  }
  EXPECT_EQ(done, 50);
}

TEST(WorkQueue, NoMoreTasksComputeAtOnceThanThereAreTurns) {
  std::atomic<int> computing = 0;
  std::atomic<int> most = 0;
  std::atomic<int> begun = 0;
  std::latch three(3);  // the first ones wait for each other: so many do compute at once
  std::vector<WorkBudget> budgets(40);
  {
    WorkQueue queue(3, 100);
    for (WorkBudget& budget : budgets) {
      const auto run = [&] {
        const bool waits = begun++ < 3;
        for (int i = 0; i < 200; ++i) {
          const int now = ++computing;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          if (waits && i == 0) three.arrive_and_wait();
          std::this_thread::yield();
          --computing;
          budget.MayContinue();
        }
      };
      ASSERT_TRUE(queue.TryPost(
          {"client " + std::to_string(&budget - budgets.data()), &budget, run, [] {}}));
    }
  }
  EXPECT_EQ(most, 3);
}

// The memory that a thread works in is worth more than the thread.
TEST(WorkQueue, StartsNoMoreThreadsThanTasksMayHaveBegun) {
  constexpr std::size_t kTasks = 200;
  constexpr std::size_t kMostThreads = 17;  // one turn, and 16 tasks that pause
  std::set<std::thread::id> threads;
  std::mutex mutex;
  std::latch ran(kMostThreads);
  std::latch released(1);
  std::vector<WorkBudget> budgets(kTasks);
  {
    WorkQueue queue(1, kTasks);
    for (WorkBudget& budget : budgets) {
      ASSERT_TRUE(queue.TryPost({.budget = &budget,
                                 .run =
                                     [&] {
                                       const std::lock_guard lock(mutex);
                                       if (threads.insert(std::this_thread::get_id()).second &&
                                           threads.size() <= kMostThreads) {
                                         ran.count_down();
                                       }
                                     },
                                 .done = [&] { released.wait(); }}));
    }
    ran.wait();
    released.count_down();
  }
  EXPECT_EQ(threads.size(), kMostThreads);
}

}  // namespace
}  // namespace espalier::work_queue_test
