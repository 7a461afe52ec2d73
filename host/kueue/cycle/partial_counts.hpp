// The numbers of pods with which a workload may be admitted in part (R21.11).
#pragma once

#include <cstdint>
#include <vector>

#include "host/model/workload.hpp"

namespace espalier {

// The counts that partial admission tries, numbered from 0 for the counts of the spec to Range()
// for the minimum of every pod set. Reclaimable pods do not lower them, as in Kueue.
class PartialCounts {
 public:
  explicit PartialCounts(const Workload& workload);
  std::int64_t Range() const { return range_; }  // 0 when no pod set can shrink
  std::vector<std::int32_t> At(std::int64_t index) const;

 private:
  std::vector<std::int32_t> full_;
  std::vector<std::int64_t> deltas_;
  std::int64_t range_ = 0;
};

// Finds the largest counts that fit by Kueue's search, which assumes that fewer pods always fit
// where more do: calls `fits(index)` and returns the index on which it ends, or Range() + 1 where
// no try that succeeded was of it.
template <class Fits>
std::int64_t FindPartialCounts(const PartialCounts& counts, Fits fits) {
  std::int64_t last = counts.Range() + 1;
  std::int64_t low = 0;
  std::int64_t high = counts.Range() + 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      last = high = middle;
    } else {
      low = middle + 1;
    }
  }
  return last == low ? last : counts.Range() + 1;
}

}  // namespace espalier
