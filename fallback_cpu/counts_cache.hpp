// A cache of counts by state and shape, bounded in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "fallback_cpu/shape_counts.hpp"
#include "host/engine/backend.hpp"

namespace espalier {

class CountsCache {
 public:
  // Counts of one shape on one state; one thread at a time uses them.
  struct Entry {
    std::mutex mutex;
    ShapeCounts counts;
  };

  explicit CountsCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Returns the entry for a job: the cached one, one recycled from another branch of its state that
  // no longer exists, or a new one; evicts the least recently used ones. Thread-safe. An evicted
  // entry lives until its last user releases it.
  std::shared_ptr<Entry> Get(const PlacementJob& job);

 private:
  struct Key {
    std::uint64_t state = 0;
    const Shape* shape = nullptr;
    bool simulate_empty = false;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Slot {
    Key key;
    std::shared_ptr<const Shape> shape;         // keeps the address taken
    std::shared_ptr<const GroupStamps> stamps;  // of the state; frozen when it is destroyed
    // Stamps of the capacity that was counted: `stamps`, or those of the capacity without usage.
    std::shared_ptr<const GroupStamps> counted;
    std::shared_ptr<Entry> entry;
    std::size_t bytes = 0;
  };

  struct State {
    std::uint64_t identity = 0;
    std::shared_ptr<const GroupStamps> stamps;
  };

  bool TakeOver(const Key& key, const PlacementJob& job);
  void DropOldest();
  std::shared_ptr<Entry> RecycleExpired();

  std::mutex mutex_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::list<Slot> slots_;  // most recently used first
  std::unordered_map<Key, std::list<Slot>::iterator, KeyHash> by_key_;
  std::list<State> states_;  // newest first
};

}  // namespace espalier
