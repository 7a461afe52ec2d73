#include "service/server/work_queue.hpp"

#include <utility>

namespace espalier {

WorkQueue::WorkQueue(int workers, int max_waiting)
    : max_unfinished_(static_cast<std::size_t>(workers) + static_cast<std::size_t>(max_waiting)) {
  for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { Run(); });
}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  posted_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

bool WorkQueue::TryPost(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (unfinished_ == max_unfinished_) return false;
    ++unfinished_;
    waiting_.push_back(std::move(task));
  }
  posted_.notify_one();
  return true;
}

std::size_t WorkQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

void WorkQueue::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    posted_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    std::function<void()> task = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    --unfinished_;
  }
}

}  // namespace espalier
