// Searching a shared array with a team of many lanes.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/macros.hpp"

namespace espalier {

struct SmallerInt {
  ESPALIER_HD std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return a < b ? a : b;
  }
};

// The lesser of two values by a strict total order.
template <class T, class Less>
struct Lesser {
  Less less;
  ESPALIER_HD T operator()(const T& a, const T& b) const { return less(b, a) ? b : a; }
};

// Returns what first_tightest of the Team contract says: three passes, each of them reduced.
template <class Team>
ESPALIER_HD std::int32_t ScanForTightest(Team& team, const std::int32_t* values,
                                         const std::int32_t* ties, std::int32_t size,
                                         std::int32_t need) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  team.sync();
  std::int32_t least = kMost;
  for (std::int32_t i = team.rank(); i < size; i += team.size()) {
    if (values[i] >= need && values[i] < least) least = values[i];
  }
  least = team.reduce(least, kMost, SmallerInt{});
  std::int32_t tie = kMost;
  if (ties != nullptr) {
    for (std::int32_t i = team.rank(); i < size; i += team.size()) {
      if (values[i] == least && ties[i] < tie) tie = ties[i];
    }
    tie = team.reduce(tie, kMost, SmallerInt{});
  }
  std::int32_t first = size;
  for (std::int32_t i = team.rank(); i < size && first == size; i += team.size()) {
    if (values[i] == least && (ties == nullptr || ties[i] == tie)) first = i;
  }
  first = team.reduce(first, size, SmallerInt{});
  return first == size || least < need ? -1 : first;
}

}  // namespace espalier
