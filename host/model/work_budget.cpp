#include "host/model/work_budget.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace espalier {
namespace {

// The pool is asked for so much at a time: little at first, as thousands of small calls may wait,
// and more the more a computation holds already.
constexpr std::int64_t kLeastStep = std::int64_t{1} << 16;
constexpr std::int64_t kMostStep = std::int64_t{1} << 20;
// A computation that holds more than such a part of the pool is large, and leaves such a part of it
// to others: dozens that have not become large fit into what is left.
constexpr std::int64_t kLargeParts = 256;
constexpr std::int64_t kSpareParts = 8;

}  // namespace

bool MemoryPool::TryTake(std::int64_t bytes, std::int64_t spare) {
  std::int64_t held = held_->load(std::memory_order_relaxed);
  do {
    if (bytes > limit_ - spare - held) return false;
  } while (!held_->compare_exchange_weak(held, held + bytes, std::memory_order_relaxed));
  return true;
}

WorkBudget& WorkBudget::Unlimited() {
  static WorkBudget unlimited{CountsNothing()};
  return unlimited;
}

WorkBudget::~WorkBudget() {
  if (pool_ != nullptr) pool_->Return(reserved_.load(std::memory_order_relaxed));
}

void WorkBudget::Reserve() {
  Error why{ErrorClass::kExhausted, {}};
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t charged = charged_.load(std::memory_order_relaxed);
    const std::int64_t reserved = reserved_.load(std::memory_order_relaxed);
    if (charged <= reserved) return;
    if (charged > limit_) {
      why.message = fmt::format("needs more memory than the {} it may hold; ask for less at once",
                                BytesText(limit_));
    } else {
      const std::int64_t step = std::clamp(charged, kLeastStep, kMostStep);
      const std::int64_t wanted = std::min((charged / step + 1) * step, limit_) - reserved;
      if (pool_->TryTake(
              wanted, charged > pool_->limit() / kLargeParts ? pool_->limit() / kSpareParts : 0)) {
        reserved_.store(reserved + wanted, std::memory_order_relaxed);
        return;
      }
      why.message = fmt::format(
          "needs more memory than is free: {} of {} are held; retry later or ask for less at once",
          BytesText(pool_->held()), BytesText(pool_->limit()));
    }
  }
  Stop(std::move(why));
}

bool WorkBudget::ChargeAnswer(std::int64_t bytes) {
  if (answer_bytes_left_.fetch_sub(bytes, std::memory_order_relaxed) < bytes) {
    Stop({ErrorClass::kExhausted,
          "the answer takes more bytes than one message may have; ask for less at once"});
  }
  return !stopped();
}

MemoryHold WorkBudget::HandOver(std::int64_t bytes) {
  if (pool_ == nullptr) return {};
  const std::lock_guard lock(mutex_);
  const std::int64_t moved = std::min(bytes, reserved_.load(std::memory_order_relaxed));
  charged_.fetch_sub(moved, std::memory_order_relaxed);
  reserved_.fetch_sub(moved, std::memory_order_relaxed);
  return {*pool_, moved};
}

void WorkBudget::Stop(Error why) {
  const std::lock_guard lock(mutex_);
  if (stopped_.load(std::memory_order_relaxed)) return;
  why_ = std::move(why);
  stopped_.store(true, std::memory_order_release);
}

Result<void> WorkBudget::Check() const {
  if (!stopped()) return {};
  const std::lock_guard lock(mutex_);
  return tl::unexpected(why_);
}

std::string BytesText(std::int64_t bytes) {
  constexpr std::array kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  std::int64_t whole = bytes;
  while (whole >= 1024 && unit + 1 < kUnits.size()) {
    whole /= 1024;
    ++unit;
  }
  const std::int64_t step = unit == 0 ? 1 : std::int64_t{1} << (10 * (unit - 1));
  const std::int64_t tenths = unit == 0 ? 0 : (bytes / step - whole * 1024) * 10 / 1024;
  return whole >= 100 || tenths == 0 ? fmt::format("{} {}", whole, kUnits[unit])
                                     : fmt::format("{}.{} {}", whole, tenths, kUnits[unit]);
}

}  // namespace espalier
