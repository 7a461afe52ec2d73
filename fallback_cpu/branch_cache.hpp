// A cache of what is derived from states, bounded in memory. What was derived from one branch
// serves the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "host/engine/backend.hpp"
#include "host/engine/counts_key.hpp"

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
    // Of the state that this one's is a branch of, until the first use; null: none.
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

  explicit BranchCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns the entry for the state of a job and a shape, or null for what is of no shape: the
  // cached one, one recycled from another branch of the state that no longer exists, or a new one,
  // which may come to hold `bytes` and knows that of the state it is a branch of; evicts the least
  // recently used ones. Thread-safe. An evicted entry lives until its last user releases it.
  std::shared_ptr<Entry> Get(const PlacementJob& job, const std::shared_ptr<const Shape>& shape,
                             std::size_t bytes) {
    const CountsKey key{job.state->identity(), shape.get(), job.simulate_empty};
    const std::lock_guard lock(mutex_);
    if (by_key_.contains(key) || TakeOver(key, job)) {
      const auto slot = by_key_.at(key);
      slots_.splice(slots_.begin(), slots_, slot);
      return slot->entry;
    }
    std::shared_ptr<Entry> entry = RecycleExpired();
    while (!slots_.empty() && bytes_ + bytes > max_bytes_) DropOldest();
    if (entry == nullptr) entry = std::make_shared<Entry>();
    const auto parent = by_key_.find({job.state->parent(), key.shape, key.simulate_empty});
    entry->parent = parent == by_key_.end() ? nullptr : parent->second->entry;
    std::list<Slot> slot;  // of its own until nothing can fail any more
    slot.push_front({key, shape, job.state->SharedStamps(), entry, bytes});
    by_key_.emplace(key, slot.begin());
    slots_.splice(slots_.begin(), slot);
    bytes_ += bytes;
    return entry;
  }

 private:
  // States whose entries another branch may take over.
  static constexpr std::size_t kMaxStates = 8;

  struct Slot {
    CountsKey key;
    std::shared_ptr<const Shape> shape;         // keeps the address taken
    std::shared_ptr<const GroupStamps> stamps;  // of the state; frozen when it is destroyed
    std::shared_ptr<Entry> entry;
    std::size_t bytes = 0;
  };
  struct State {
    std::uint64_t identity = 0;
    std::shared_ptr<const GroupStamps> stamps;
  };

  // Makes the entry of a state that is gone that of another branch. Nobody uses it any more, as its
  // state would still be there.
  bool TakeOver(const CountsKey& key, const PlacementJob& job) {
    if (std::ranges::find(states_, key.state, &State::identity) == states_.end()) {
      states_.push_front({key.state, job.state->SharedStamps()});
    }
    if (states_.size() > kMaxStates) states_.pop_back();
    for (const State& other : states_) {
      if (!other.stamps->frozen()) continue;
      const auto known = by_key_.find({other.identity, key.shape, key.simulate_empty});
      if (known == by_key_.end()) continue;
      const auto slot = known->second;
      slot->key = key;
      slot->stamps = job.state->SharedStamps();
      auto node = by_key_.extract(known);
      node.key() = key;
      by_key_.insert(std::move(node));
      return true;
    }
    return false;
  }

  void DropOldest() {
    bytes_ -= slots_.back().bytes;
    by_key_.erase(slots_.back().key);
    slots_.pop_back();
  }

  // Returns the oldest entry, for its memory, when its state is gone and nobody holds it.
  std::shared_ptr<Entry> RecycleExpired() {
    if (slots_.empty() || !slots_.back().stamps->frozen() || slots_.back().entry.use_count() > 1) {
      return nullptr;
    }
    std::shared_ptr<Entry> entry = std::move(slots_.back().entry);
    DropOldest();
    entry->value.Forget();
    return entry;
  }

  std::mutex mutex_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::list<Slot> slots_;  // most recently used first
  std::unordered_map<CountsKey, typename std::list<Slot>::iterator, CountsKey::Hash> by_key_;
  std::list<State> states_;  // newest first
};

}  // namespace espalier
