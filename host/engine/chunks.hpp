// Splits long batches into chunks, so that other work gets its turn between them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "host/model/work_budget.hpp"

namespace espalier {

// Chooses the sizes of a batch's chunks: as large as possible for work that never pauses, else such
// that a chunk takes some milliseconds. The cost of an item varies a hundredfold within a batch
// (its shape may be counted already), so sizes shrink at once and grow slowly: after n cheap items
// a chunk of expensive ones is larger by n / kGrowthParts at most. Answers must not depend on the
// sizes.
class Chunks {
 public:
  // Chooses sizes of at most `most`, which is 1 or more.
  Chunks(WorkBudget& budget, std::size_t most)
      : budget_(budget), most_(most), size_(budget.pausable() ? std::min(kFirst, most) : most) {}

  // Begins the next chunk, after a pause if one was requested. Returns false when the work is to
  // stop.
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

  static constexpr std::size_t kFirst = 64;
  static constexpr std::size_t kGrowthParts = 8;
  static constexpr Clock::duration kWanted = std::chrono::milliseconds(2);

  void Resize(Clock::duration taken) {
    if (taken > kWanted) {
      size_ = std::max(size_ * static_cast<std::size_t>(kWanted.count()) /
                           static_cast<std::size_t>(taken.count()),
                       std::size_t{1});
    } else if (taken < kWanted / 2) {
      size_ = std::min(size_ + size_ / kGrowthParts + 1, most_);
    }
  }

  WorkBudget& budget_;
  const std::size_t most_;
  std::size_t size_;
  Clock::time_point begun_;
};

}  // namespace espalier
