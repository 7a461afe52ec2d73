// Arithmetic on amounts that stops at the ends of int64, for hosts and devices.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/views.hpp"

namespace espalier {

// Return the sum and the difference; where it is beyond int64, the end it is beyond.
ESPALIER_HD inline Amount SaturatingSum(Amount a, Amount b) {
  const auto sum =
      static_cast<Amount>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  if (((a ^ sum) & (b ^ sum)) >= 0) return sum;
  return a < 0 ? std::numeric_limits<Amount>::min() : std::numeric_limits<Amount>::max();
}

ESPALIER_HD inline Amount SaturatingDifference(Amount a, Amount b) {
  const auto difference =
      static_cast<Amount>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  const bool overflows =
      ((a ^ b) & (a ^ difference)) < 0;  // signs differ and the sign of a is lost
  if (!overflows) return difference;
  return a < 0 ? std::numeric_limits<Amount>::min() : std::numeric_limits<Amount>::max();
}

// Returns a * b, or the largest amount where that is more. Neither is negative.
ESPALIER_HD inline Amount SaturatingProduct(Amount a, Amount b) {
  constexpr Amount kMost = std::numeric_limits<Amount>::max();
  return b != 0 && a > kMost / b ? kMost : a * b;
}

}  // namespace espalier
