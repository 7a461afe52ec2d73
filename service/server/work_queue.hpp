// Threads that take computations off the gRPC threads, and a bound on how many may wait.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace espalier {

// Not a oneTBB arena: a worker that waits inside a computation must not pick up another call, which
// could want a lock the first one holds.
class WorkQueue {
 public:
  // `workers` 1 or more; `max_waiting` tasks may wait while all workers are busy.
  WorkQueue(int workers, int max_waiting);

  // Runs what was posted, then joins.
  ~WorkQueue();

  // False when the queue is full. `task` must not throw.
  bool TryPost(std::function<void()> task);

  // Tasks that no worker has taken yet.
  std::size_t waiting() const;

 private:
  void Run();

  const std::size_t max_unfinished_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable posted_;
  std::deque<std::function<void()>> waiting_;
  std::size_t unfinished_ = 0;  // waiting or running
  bool closed_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace espalier
