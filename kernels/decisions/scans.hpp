// Scans of one level's counts.
#pragma once

#include <cstdint>

#include "kernels/team/serial_team.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct SmallerStored {
  ESPALIER_HD StoredCount operator()(StoredCount a, StoredCount b) const { return a < b ? a : b; }
};

struct SmallerPosition {
  ESPALIER_HD std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return a < b ? a : b;
  }
};

// Position of the first smallest value >= need among `size` values, or -1. Of equal values the one
// with the smallest entry in `ties`, where that is not null, is smaller.
template <class Team>
ESPALIER_HD std::int32_t FirstTightest(Team& team, const StoredCount* values,
                                       const StoredCount* ties, std::int32_t size, Count need) {
  if (need > kMaxStored) return -1;
  StoredCount least = kMaxStored;
  for (std::int32_t i = team.rank(); i < size; i += team.size()) {
    if (values[i] >= need && values[i] < least) least = values[i];
  }
  least = team.reduce(least, kMaxStored, SmallerStored{});
  StoredCount tie = kMaxStored;
  if (ties != nullptr) {
    for (std::int32_t i = team.rank(); i < size; i += team.size()) {
      if (values[i] == least && ties[i] < tie) tie = ties[i];
    }
    tie = team.reduce(tie, kMaxStored, SmallerStored{});
  }
  std::int32_t first = size;
  for (std::int32_t i = team.rank(); i < size && first == size; i += team.size()) {
    if (values[i] == least && (ties == nullptr || ties[i] == tie)) first = i;
  }
  first = team.reduce(first, size, SmallerPosition{});
  return first == size || least < need ? -1 : first;
}

// One lane uses the form its team was given.
inline std::int32_t FirstTightest(SerialTeam& team, const StoredCount* values,
                                  const StoredCount* ties, std::int32_t size, Count need) {
  return need > kMaxStored
             ? -1
             : team.first_tightest(values, ties, size, static_cast<StoredCount>(need));
}

}  // namespace espalier
