// Cutting long batches into chunks, so that other work gets its turn between them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "host/model/work_budget.hpp"

namespace espalier {

// Chooses the sizes of a batch's chunks: as large as possible for work that never pauses, else such
// that a chunk takes some milliseconds, by how long the one before took. Answers must not depend on
// the sizes.
class Chunks {
 public:
  // `most` is the largest size, 1 or more.
  Chunks(WorkBudget& budget, std::size_t most)
      : budget_(budget), most_(most), size_(budget.pausable() ? std::min(kFirst, most) : most) {}

  // Begins the next chunk, after a pause where one is due. Returns false where the work is to stop.
  bool Begin() {
    if (budget_.pausable()) {
      if (begun_ != Clock::time_point()) Resize(Clock::now() - begun_);
      if (!budget_.Pause()) return false;
      begun_ = Clock::now();
    }
    return !budget_.stopped();
  }

  std::size_t size() const { return size_; }

 private:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kFirst = 256;
  static constexpr std::size_t kFastestGrowth = 8;
  static constexpr Clock::duration kWanted = std::chrono::milliseconds(2);

  void Resize(Clock::duration taken) {
    const auto growth = static_cast<std::size_t>(kWanted / std::max(taken, Clock::duration(1)));
    size_ = growth > 0 ? std::min(size_ * std::min(growth, kFastestGrowth), most_)
                       : std::max(size_ / 2, std::size_t{1});
  }

  WorkBudget& budget_;
  const std::size_t most_;
  std::size_t size_;
  Clock::time_point begun_;
};

}  // namespace espalier
