// Scans of one level's counts.
#pragma once

#include <cstdint>

#include "kernels/views.hpp"

namespace espalier {

struct LargerStored {
  ESPALIER_HD StoredCount operator()(StoredCount a, StoredCount b) const { return a > b ? a : b; }
};

// Returns the largest value of a run of domains; 0 where there is none.
template <class Team>
ESPALIER_HD StoredCount MostOf(Team& team, const StoredCount* values, DomainRange domains) {
  StoredCount most = 0;
  for (std::int32_t d = domains.begin + team.rank(); d < domains.end; d += team.size()) {
    if (values[d] > most) most = values[d];
  }
  return team.reduce(most, 0, LargerStored{});
}

// Returns the position of the first smallest value >= need among `size` values, or -1. Of equal
// values the one with the smallest entry in `ties`, where that is not null, is smaller.
template <class Team>
ESPALIER_HD std::int32_t FirstTightest(Team& team, const StoredCount* values,
                                       const StoredCount* ties, std::int32_t size, Count need) {
  if (need > kMaxStored) return -1;
  return team.first_tightest(values, ties, size, static_cast<StoredCount>(need));
}

}  // namespace espalier
