// Runs computations outside of gRPC's threads and shares the processors among them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/model/work_budget.hpp"

namespace espalier {

// Runs tasks on threads of their own, a few at a time: a task computes while it has a turn. A task
// that has computed for some milliseconds is asked through its budget to pause when others wait,
// and hands its turn on. The next turn goes to the client that has computed least, and among its
// tasks to the one that has computed least, so that short tasks overtake long ones; every fourth
// turn goes to the task that has waited longest, so that none waits for ever. Thread-safe.
//
// Not a oneTBB arena: a worker that waits inside a computation must not pick up another call, which
// could want a lock that the first one holds.
class WorkQueue {
 public:
  using Clock = std::chrono::steady_clock;

  struct Task {
    std::string client;            // a connection; empty: no known client
    WorkBudget* budget = nullptr;  // must live until `done` is called; never null
    std::function<void()> run;     // computes; must not throw
    std::function<void()> done;    // called after `run` has ended and given up its turn
    // The time from which nobody waits for the task any more.
    Clock::time_point deadline = Clock::time_point::max();
  };

  // Lets at most `turns` tasks (1 or more) compute at once and `max_waiting` (0 or more) wait
  // meanwhile.
  WorkQueue(int turns, int max_waiting);

  // Runs what was posted, then joins the threads.
  ~WorkQueue();

  // Adds a task. Returns false when the queue is full, when a quarter of it is left and a known
  // client has the rest, or when the task would wait for more than half of the time to its
  // deadline: whoever is told at once can do something else, and no turn is spent on what comes too
  // late.
  bool TryPost(Task task);

  // Returns the number of tasks that have not begun.
  std::size_t waiting() const;

 private:
  // The time that the tasks of one client have computed. A new client starts at the value of the
  // least served one that is there, and is removed with its last task.
  struct Client {
    Clock::duration served{};
    std::size_t tasks = 0;
  };
  using Clients = std::map<std::string, Client>;

  struct Entry {
    Task task;
    Clients::iterator client;
    Clock::duration served{};
    Clock::time_point since;  // since when it has its turn, or waits
    bool begun = false;
    bool has_turn = false;
    std::condition_variable turn;  // given to a task that paused
  };
  using Entries = std::list<Entry>;

  void Run();
  void Compute(Entries::iterator entry, std::unique_lock<std::mutex>& lock);
  void Pause(Entry& entry);
  void EndTurn(Entry& entry);
  void GiveTurns();
  bool ComesTooLate(const Task& task, std::size_t of_client) const;
  bool GoesBefore(const Entry& a, const Entry& b) const;
  bool MayHaveTurn(const Entry& entry) const;
  Entries::iterator Next();

  const std::size_t turns_;
  const std::size_t max_unfinished_;
  const std::size_t max_begun_;
  mutable std::mutex mutex_;        // guards all below
  std::condition_variable posted_;  // for threads
  std::condition_variable ended_;   // for the destructor
  Clients clients_;
  Entries entries_;                          // unfinished, in the order they were posted
  std::vector<Entries::iterator> to_begin_;  // have a turn and need a thread
  std::size_t free_turns_;
  std::size_t waiting_ = 0;  // entries not begun
  std::size_t begun_ = 0;    // entries begun
  std::size_t idle_ = 0;     // threads
  std::uint64_t turns_given_ = 0;
  Clock::duration usual_{};  // that a task computes, of those that somebody waited for
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace espalier
