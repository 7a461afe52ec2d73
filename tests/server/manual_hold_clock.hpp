// A clock of holds that tests turn.
#pragma once

#include <condition_variable>
#include <mutex>

#include "host/live/hold_clock.hpp"

namespace espalier {

class ManualHoldClock final : public HoldClock {
 public:
  TimePoint Now() override {
    const std::lock_guard lock(mutex_);
    return now_;
  }

  void Wait(std::condition_variable& wake, std::unique_lock<std::mutex>& lock,
            TimePoint until) override {
    {
      const std::lock_guard own(mutex_);
      if (until <= now_) return;
      waits_ = true;
      wake_ = &wake;
      waiters_mutex_ = lock.mutex();
      settled_.notify_all();
    }
    wake.wait(lock);
    const std::lock_guard own(mutex_);
    waits_ = false;
  }

  // Turns the clock on and returns once whoever waits by it has done what was due.
  void Advance(std::chrono::seconds by) {
    std::unique_lock own(mutex_);
    settled_.wait(own, [this] { return waits_; });
    now_ += by;
    waits_ = false;
    std::condition_variable& wake = *wake_;
    std::mutex& mutex = *waiters_mutex_;
    own.unlock();
    {
      const std::lock_guard lock(mutex);
      wake.notify_all();
    }
    own.lock();
    settled_.wait(own, [this] { return waits_; });
  }

 private:
  std::mutex mutex_;  // guards all below
  std::condition_variable settled_;
  TimePoint now_ = TimePoint() + std::chrono::hours(1);
  bool waits_ = false;
  std::condition_variable* wake_ = nullptr;  // of who waits
  std::mutex* waiters_mutex_ = nullptr;
};

}  // namespace espalier
