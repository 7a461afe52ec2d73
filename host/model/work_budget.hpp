// What a computation may use: memory, and time until nobody waits for its result any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <utility>

#include "host/model/result.hpp"

namespace espalier {

// Counts the bytes that computations and states hold together. Thread-safe.
class MemoryPool {
 public:
  // `limit` is in bytes, 0 or more.
  explicit MemoryPool(std::int64_t limit) : limit_(limit) {}

  std::int64_t limit() const { return limit_; }
  std::int64_t held() const { return held_.load(std::memory_order_relaxed); }

  // Takes `bytes` (0 or more). Returns false and takes nothing where fewer than `spare` bytes would
  // remain.
  bool TryTake(std::int64_t bytes, std::int64_t spare = 0);
  void Return(std::int64_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::int64_t limit_;
  std::atomic<std::int64_t> held_ = 0;
};

// Owns bytes of a pool and returns them when it is destroyed. An empty hold owns nothing.
class MemoryHold {
 public:
  MemoryHold() = default;
  // Owns `bytes` that were taken from `pool`, which outlives the hold.
  MemoryHold(MemoryPool* pool, std::int64_t bytes) : pool_(pool), bytes_(bytes) {}
  MemoryHold(MemoryHold&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryHold& operator=(MemoryHold&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryHold() {
    if (pool_ != nullptr) pool_->Return(bytes_);
  }

  std::int64_t bytes() const { return bytes_; }

 private:
  MemoryPool* pool_ = nullptr;
  std::int64_t bytes_ = 0;
};

// Bounds one computation. Loops whose length a caller decides charge what they allocate before they
// allocate it, and ask stopped() or Pause() at least every millisecond or so. Once stopped, a
// computation ends as soon as it can; what it returns then is meaningless and is thrown away by
// whoever owns the budget and asks Check(). Thread-safe, Pause() apart.
class WorkBudget {
 public:
  // Bounds nothing until Stop is called.
  WorkBudget() = default;
  // Bounds memory to `limit` bytes.
  explicit WorkBudget(std::int64_t limit) : limit_(limit), reserved_(limit) {}
  // Bounds memory to `limit` bytes, all of which come from `pool`. A computation that has become
  // large leaves an eighth of the pool to others. `pool` outlives the budget.
  WorkBudget(MemoryPool& pool, std::int64_t limit) : pool_(&pool), limit_(limit), reserved_(0) {}
  // Returns all bytes to the pool.
  ~WorkBudget();
  WorkBudget(const WorkBudget&) = delete;
  WorkBudget& operator=(const WorkBudget&) = delete;

  // Counts `bytes` (0 or more) as allocated. Returns false where the work is to stop: it was
  // stopped, or the bytes are more than the budget or the pool has, which stops it (kExhausted).
  bool Charge(std::int64_t bytes) {
    if (charged_.fetch_add(bytes, std::memory_order_relaxed) + bytes >
        reserved_.load(std::memory_order_relaxed)) {
      Reserve();
    }
    return !stopped();
  }
  // Counts `bytes` that were charged as freed.
  void Release(std::int64_t bytes) { charged_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Returns the bytes charged and not released.
  std::int64_t charged() const { return charged_.load(std::memory_order_relaxed); }

  // Moves `bytes` that were charged out of the budget, to what outlives the computation.
  MemoryHold HandOver(std::int64_t bytes);

  // Stops the work; the first reason is kept.
  void Stop(Error why);
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  // Returns why the work was stopped, if it was.
  Result<void> Check() const;

  // Lets other work have the processor where it is its turn. Called by the thread that owns the
  // work, which holds no lock. Returns false where the work is to stop.
  bool Pause() {
    if (pause_) pause_();
    return !stopped();
  }
  // Sets what Pause() does first; before the work begins.
  void OnPause(std::function<void()> pause) { pause_ = std::move(pause); }

 private:
  void Reserve();

  MemoryPool* pool_ = nullptr;
  std::int64_t limit_ = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> charged_ = 0;
  // Bytes that may be charged without asking the pool again.
  std::atomic<std::int64_t> reserved_ = std::numeric_limits<std::int64_t>::max();
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;  // guards why_ and growing reserved_
  Error why_;
  std::function<void()> pause_;
};

// Returns `bytes` for people, as "512 MiB"; rounded down to three digits.
std::string BytesText(std::int64_t bytes);

}  // namespace espalier
