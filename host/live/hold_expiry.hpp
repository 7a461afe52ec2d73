// Ends holds when their time has come.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "host/live/hold_clock.hpp"
#include "host/live/named_states.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// A thread that waits for the next hold of any state to expire.
class HoldExpiry {
 public:
  // Takes the holds of the state of a name that have expired; called on this thread.
  using Told = std::function<void(const std::string& state, const StateStore::Expired& expired)>;
  // All must outlive this; the memory of the states that expiries lead to is taken from `memory`,
  // as far as it has any.
  HoldExpiry(NamedStates& states, HoldClock& clock, MemoryPool& memory, Told told);
  ~HoldExpiry();
  HoldExpiry(const HoldExpiry&) = delete;
  HoldExpiry& operator=(const HoldExpiry&) = delete;

  HoldClock& clock() { return clock_; }

  // Must be called when holds were made, or extended, that expire at `expires`. Thread-safe.
  void Expect(HoldClock::TimePoint expires);

 private:
  void Run();
  // Ends what has expired in all states. Returns when the next hold expires.
  HoldClock::TimePoint ExpireAll();
  HoldClock::TimePoint Expire(const std::string& name, StateStore& store);

  NamedStates& states_;
  HoldClock& clock_;
  MemoryPool& memory_;
  const Told told_;
  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  HoldClock::TimePoint next_ = HoldClock::TimePoint::max();
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace espalier
