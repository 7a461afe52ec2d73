#include "host/kueue/cycle/partial_counts.hpp"

#include <algorithm>

namespace espalier {

PartialCounts::PartialCounts(const Workload& workload) {
  for (const PodSet& pod_set : workload.pod_sets) {
    const std::int32_t minimum = pod_set.min_count.value_or(pod_set.count);
    full_.push_back(pod_set.count);
    deltas_.push_back(std::max<std::int64_t>(std::int64_t{pod_set.count} - minimum, 0));
    range_ += deltas_.back();
  }
}

std::vector<std::int32_t> PartialCounts::At(std::int64_t index) const {
  std::vector<std::int32_t> counts;
  for (std::size_t i = 0; i < full_.size(); ++i) {
    __extension__ using Wide = __int128;  // the product of two sums of counts
    const auto less = static_cast<std::int64_t>(Wide{deltas_[i]} * index / range_);
    counts.push_back(static_cast<std::int32_t>(full_[i] - less));
  }
  return counts;
}

}  // namespace espalier
