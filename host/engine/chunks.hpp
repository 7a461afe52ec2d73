// Splits long batches into chunks, so that other work gets its turn between them.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "host/engine/backend.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// Chooses the sizes of a batch's chunks: as large as possible for work that never pauses, else such
// that a chunk takes some milliseconds. The cost of an item varies a hundredfold within a batch
// (its shape may be counted already), so sizes shrink at once and grow slowly: after n cheap items
// a chunk of expensive ones is larger by n / kGrowthParts at most. Answers must not depend on the
// sizes.
class Chunks {
 public:
  // Chooses sizes of at most `most`; work that pauses begins with `first`. Both are 1 or more.
  Chunks(WorkBudget& budget, std::size_t most, std::size_t first = kQuickBatch)
      : budget_(budget), most_(most), size_(budget.pausable() ? std::min(first, most) : most) {}

  // Begins the next chunk, after a pause if one was requested. Returns false when the work is to
  // stop.
  bool Begin() {
    if (budget_.pausable()) {
      if (begun_ != Clock::time_point()) size_ = NextSize(size_, Clock::now() - begun_, most_);
      if (!budget_.MayContinue()) return false;
      begun_ = Clock::now();
    }
    return !budget_.stopped();
  }

  std::size_t size() const { return size_; }

  using Clock = std::chrono::steady_clock;
  static constexpr Clock::duration kWanted = std::chrono::milliseconds(2);

  // Returns the size of the chunk after one of `size` items that took so long; 1 to `most`.
  static std::size_t NextSize(std::size_t size, Clock::duration taken, std::size_t most) {
    if (taken > kWanted) {
      return std::max(size * static_cast<std::size_t>(kWanted.count()) /
                          static_cast<std::size_t>(taken.count()),
                      std::size_t{1});
    }
    return taken < kWanted / 2 ? std::min(size + size / kGrowthParts + 1, most) : size;
  }

 private:
  static constexpr std::size_t kGrowthParts = 8;

  WorkBudget& budget_;
  const std::size_t most_;
  std::size_t size_;
  Clock::time_point begun_;
};

}  // namespace espalier
