// Bounds what a computation may use: memory, and time until nobody waits for its result any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
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
  std::int64_t held() const { return held_->load(std::memory_order_relaxed); }

  // Takes `bytes` (0 or more). Returns false and takes nothing when fewer than `spare` bytes would
  // remain.
  bool TryTake(std::int64_t bytes, std::int64_t spare = 0);
  void Return(std::int64_t bytes) { held_->fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  friend class MemoryHold;
  using Count = std::atomic<std::int64_t>;

  const std::int64_t limit_;
  const std::shared_ptr<Count> held_ = std::make_shared<Count>(0);  // lives as long as any hold
};

// Owns bytes of a pool and returns them when it is destroyed. An empty hold owns nothing. A hold
// may outlive its pool, as caches keep shapes and filters longer than the server whose memory they
// take.
class MemoryHold {
 public:
  MemoryHold() = default;
  // Owns `bytes` that were taken from `pool`.
  MemoryHold(const MemoryPool& pool, std::int64_t bytes) : held_(pool.held_), bytes_(bytes) {}
  MemoryHold(MemoryHold&& other) noexcept
      : held_(std::move(other.held_)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryHold& operator=(MemoryHold&& other) noexcept {
    std::swap(held_, other.held_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryHold() { Shrink(bytes_); }

  std::int64_t bytes() const { return bytes_; }

  // Takes over what `other`, of the same pool, owns.
  void Add(MemoryHold other) {
    if (held_ == nullptr) held_ = other.held_;
    bytes_ += std::exchange(other.bytes_, 0);
  }
  // Returns `bytes` of what it owns.
  void Shrink(std::int64_t bytes) {
    if (held_ != nullptr) held_->fetch_sub(bytes, std::memory_order_relaxed);
    bytes_ -= bytes;
  }

 private:
  std::shared_ptr<MemoryPool::Count> held_;
  std::int64_t bytes_ = 0;
};

// Bounds one computation. Loops whose length a caller decides charge what they allocate before they
// allocate it, and call stopped() or MayContinue() at least every millisecond or so. A stopped
// computation ends as soon as it can; its result is meaningless and is discarded by the owner of
// the budget, who calls Check(). Thread-safe, except for MayContinue().
class WorkBudget {
 public:
  // Bounds nothing until Stop is called.
  WorkBudget() = default;
  // Returns a budget that bounds nothing and that nobody stops, for callers without limits.
  static WorkBudget& Unlimited();
  // Bounds memory to `limit` bytes.
  explicit WorkBudget(std::int64_t limit) : limit_(limit), reserved_(limit) {}
  // Bounds memory to `limit` bytes, all of which come from `pool`. A computation that has become
  // large leaves an eighth of the pool to others. `pool` outlives the budget.
  WorkBudget(MemoryPool& pool, std::int64_t limit) : pool_(&pool), limit_(limit), reserved_(0) {}
  // Returns all bytes to the pool.
  ~WorkBudget();
  WorkBudget(const WorkBudget&) = delete;
  WorkBudget& operator=(const WorkBudget&) = delete;

  // Counts `bytes` (0 or more) as allocated. Returns false when the work must stop: it was stopped,
  // or the bytes are more than the budget or the pool has, which stops it (kExhausted).
  bool Charge(std::int64_t bytes) {
    if (!counts_) return !stopped();
    if (charged_.fetch_add(bytes, std::memory_order_relaxed) + bytes >
        reserved_.load(std::memory_order_relaxed)) {
      Reserve();
    }
    return !stopped();
  }
  // Counts `bytes` that were charged as freed.
  void Release(std::int64_t bytes) {
    if (counts_) charged_.fetch_sub(bytes, std::memory_order_relaxed);
  }
  // Returns the bytes charged and not released.
  std::int64_t charged() const { return charged_.load(std::memory_order_relaxed); }

  // Counts bytes of the answer; stops the work (kExhausted) when they are more than SetAnswerLimit
  // allows. Returns false when the work must stop.
  bool ChargeAnswer(std::int64_t bytes);
  // Bounds the bytes of the answer; must be called before the work begins.
  void SetAnswerLimit(std::int64_t bytes) { answer_bytes_left_ = bytes; }

  // Moves `bytes` that were charged out of the budget to a hold, for data that outlives the
  // computation.
  MemoryHold HandOver(std::int64_t bytes);

  // Stops the work; the first reason is kept.
  void Stop(Error why);
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }
  // Returns why the work was stopped, if it was.
  Result<void> Check() const;

  // Returns whether the work may continue. First runs the pause, which lets other work have the
  // processor, if RequestPause was called. Must be called by the thread that owns the work, while
  // it holds no lock.
  bool MayContinue() {
    if (pause_requested_.load(std::memory_order_relaxed)) pause_();
    return !stopped();
  }
  // Sets the function that a requested pause runs, which ends the request; must be called before
  // the work begins.
  void OnPause(std::function<void()> pause) { pause_ = std::move(pause); }
  bool pausable() const { return static_cast<bool>(pause_); }
  void RequestPause(bool requested = true) {
    pause_requested_.store(requested && pausable(), std::memory_order_relaxed);
  }

 private:
  struct CountsNothing {};
  explicit WorkBudget(CountsNothing) : counts_(false) {}
  void Reserve();

  static constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

  MemoryPool* pool_ = nullptr;
  const std::int64_t limit_ = kNoLimit;
  const bool counts_ = true;  // false for the one that all threads share
  std::atomic<std::int64_t> charged_ = 0;
  // Bytes that may be charged without asking the pool again.
  std::atomic<std::int64_t> reserved_ = kNoLimit;
  std::atomic<std::int64_t> answer_bytes_left_ = kNoLimit;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> pause_requested_ = false;
  mutable std::mutex mutex_;  // guards why_ and growing reserved_
  Error why_;
  std::function<void()> pause_;
};

// Returns `bytes` in a form for people, such as "512 MiB"; rounded down to three digits.
std::string BytesText(std::int64_t bytes);

}  // namespace espalier
