// What questions about every domain ask of its counts: whether it holds something alone, as R10.3
// says, or how often.
#pragma once

#include "kernels/decisions/choose_level.hpp"
#include "kernels/views.hpp"

namespace espalier {

// What each domain of some levels is asked.
struct DomainQuestion {
  Count slices = 1;         // that it is to hold alone,
  Count leaders = 0;        // with so many leaders, as many as the counts have
  bool repeatedly = false;  // whether it counts as often as it does, and not once; then there must
                            // be slices, and no leader
  std::int32_t first_level = 0;
  std::int32_t last_level = 0;
};

// Returns how often some slices, 1 or more, are in what a domain holds. Both numbers are of 31
// bits: what is less than a whole number by any part of `slices` stays less as a double. Several
// are divided at once so.
ESPALIER_HD inline StoredCount TimesIn(StoredCount held, double slices) {
  return static_cast<StoredCount>(static_cast<double>(held) / slices);
}

// Returns how often a domain counts that is asked.
ESPALIER_HD inline Count TimesHeld(const CountsView& counts, std::int32_t domain,
                                   const DomainQuestion& asked) {
  if (asked.repeatedly) {
    return TimesIn(counts.slices[domain], static_cast<double>(asked.slices));
  }
  return Sufficient(MakeCandidate(counts, domain), asked.slices, asked.leaders) ? 1 : 0;
}

}  // namespace espalier
