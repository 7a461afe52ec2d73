// The time by which holds expire.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace espalier {

// A clock that never goes back. Thread-safe.
class HoldClock {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  virtual ~HoldClock() = default;

  virtual TimePoint Now() = 0;

  // Waits until `wake` is notified or this clock comes to `until`, or returns earlier without
  // cause. `lock` is of the mutex that `wake` is notified under.
  virtual void Wait(std::condition_variable& wake, std::unique_lock<std::mutex>& lock,
                    TimePoint until) = 0;
};

// The clock of the machine, which no change of its date moves.
class MachineHoldClock final : public HoldClock {
 public:
  TimePoint Now() override { return std::chrono::steady_clock::now(); }
  void Wait(std::condition_variable& wake, std::unique_lock<std::mutex>& lock,
            TimePoint until) override {
    if (until == TimePoint::max()) {
      wake.wait(lock);
    } else {
      wake.wait_until(lock, until);
    }
  }
};

}  // namespace espalier
