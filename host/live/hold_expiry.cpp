#include "host/live/hold_expiry.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace espalier {

HoldExpiry::HoldExpiry(NamedStates& states, HoldClock& clock, MemoryPool& memory, Told told)
    : states_(states), clock_(clock), memory_(memory), told_(std::move(told)), thread_([this] {
        Run();
      }) {}

HoldExpiry::~HoldExpiry() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    wake_.notify_all();
  }
  thread_.join();
}

void HoldExpiry::Expect(HoldClock::TimePoint expires) {
  const std::lock_guard lock(mutex_);
  if (expires >= next_) return;
  next_ = expires;
  wake_.notify_all();
}

void HoldExpiry::Run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (clock_.Now() < next_) {
      clock_.Wait(wake_, lock, next_);
      continue;
    }
    next_ = HoldClock::TimePoint::max();  // unless a hold is made meanwhile
    lock.unlock();
    const HoldClock::TimePoint next = ExpireAll();
    lock.lock();
    next_ = std::min(next_, next);
  }
}

HoldClock::TimePoint HoldExpiry::ExpireAll() {
  HoldClock::TimePoint next = HoldClock::TimePoint::max();
  for (const auto& [name, store] : states_.WithUnnamed())
    next = std::min(next, Expire(name, *store));
  return next;
}

HoldClock::TimePoint HoldExpiry::Expire(const std::string& name, StateStore& store) {
  const HoldClock::TimePoint now = clock_.Now();
  try {
    WorkBudget budget(memory_, memory_.limit());
    StateStore::Expired expired;
    auto next = store.ExpireHolds(now, budget, &expired);
    // A hold ends at its time, memory or not; the state gets no larger by it.
    if (!next) next = store.ExpireHolds(now, WorkBudget::Unlimited(), &expired);
    if (!expired.ids.empty()) told_(name, expired);
    return next ? *next : HoldClock::TimePoint::max();
  } catch (const std::bad_alloc&) {
    return HoldClock::TimePoint::max();  // nothing is loaded any more (StateStore)
  }
}

}  // namespace espalier
