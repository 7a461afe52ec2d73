// A cache of what is derived from states, bounded in memory. What was derived from one branch
// serves the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "host/engine/backend.hpp"
#include "host/engine/counts_key.hpp"
#include "host/model/lru_by_bytes.hpp"

namespace espalier {

// Keeps a Value by state and shape. A Value brings itself up to date with the state of a job;
// Forget() makes it like new, and BeginWith(of_parent, job) lets a new one begin with that of the
// state that the job's is a branch of, if it can.
template <class Value>
class BranchCache {
 public:
  struct Entry {
    std::mutex mutex;  // guards all below
    Value value;
    // The entry of the state that this one's state is a branch of, until the first use; null: none.
    std::shared_ptr<Entry> parent;

    // Begins with the value of the parent, unless somebody uses it now. Requires the mutex; waits
    // for no other.
    void BeginWithParent(const PlacementJob& job) {
      const std::shared_ptr<Entry> from = std::exchange(parent, nullptr);
      if (from == nullptr) return;
      const std::unique_lock lock(from->mutex, std::try_to_lock);
      if (lock) value.BeginWith(from->value, job);
    }
  };

  explicit BranchCache(std::size_t max_bytes) : slots_(max_bytes) {}

  // Returns the entry for the state of a job and a shape, or null for what is of no shape: the
  // cached one, one recycled from another branch of the state that no longer exists, or a new one,
  // which may come to hold `bytes` and knows that of the state it is a branch of; evicts the least
  // recently used ones. Thread-safe. An evicted entry lives until its last user releases it.
  std::shared_ptr<Entry> Get(const PlacementJob& job, const std::shared_ptr<const PodShape>& shape,
                             std::size_t bytes) {
    const CountsKey key{job.state->identity(), shape.get(), job.simulate_empty};
    const std::lock_guard lock(mutex_);
    if (Slot* slot = slots_.Find(key); slot != nullptr) return slot->entry;
    if (Slot* slot = TakeOver(key, job); slot != nullptr) return slot->entry;
    std::shared_ptr<Entry> entry = RecycleExpired();
    if (entry == nullptr) entry = std::make_shared<Entry>();
    slots_.MakeRoom(bytes);
    const Slot* parent = slots_.Peek({job.state->parent(), key.shape, key.simulate_empty});
    entry->parent = parent == nullptr ? nullptr : parent->entry;
    slots_.Put(key, {shape, job.state->SharedStamps(), entry}, bytes);
    return entry;
  }

 private:
  // States whose entries another branch may take over.
  static constexpr std::size_t kMaxStates = 8;

  struct Slot {
    std::shared_ptr<const PodShape> shape;      // keeps the address taken
    std::shared_ptr<const GroupStamps> stamps;  // of the state; frozen when it is destroyed
    std::shared_ptr<Entry> entry;
  };
  struct State {
    std::uint64_t identity = 0;
    std::shared_ptr<const GroupStamps> stamps;
  };

  // Makes the entry of a state that is gone that of another branch; null: there is none. Nobody
  // uses it any more, as its state would still be there.
  Slot* TakeOver(const CountsKey& key, const PlacementJob& job) {
    if (std::ranges::find(states_, key.state, &State::identity) == states_.end()) {
      states_.push_front({key.state, job.state->SharedStamps()});
    }
    if (states_.size() > kMaxStates) states_.pop_back();
    for (const State& other : states_) {
      if (!other.stamps->frozen()) continue;
      Slot* slot = slots_.ChangeKey({other.identity, key.shape, key.simulate_empty}, key);
      if (slot == nullptr) continue;
      slot->stamps = job.state->SharedStamps();
      return slot;
    }
    return nullptr;
  }

  // Returns the oldest entry, for its memory, when its state is gone and nobody holds it.
  std::shared_ptr<Entry> RecycleExpired() {
    const auto* oldest = slots_.Oldest();
    if (oldest == nullptr || !oldest->value.stamps->frozen() ||
        oldest->value.entry.use_count() > 1) {
      return nullptr;
    }
    std::shared_ptr<Entry> entry = oldest->value.entry;
    slots_.Drop(oldest->key);
    entry->value.Forget();
    return entry;
  }

  std::mutex mutex_;
  LruByBytes<CountsKey, Slot, CountsKey::Hash> slots_;
  std::list<State> states_;  // newest first
};

}  // namespace espalier
