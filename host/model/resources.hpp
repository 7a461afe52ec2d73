// Amounts of resources in canonical units: cpu in milli, every other resource in whole units
// (R1.8).
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "host/model/flat_map.hpp"

namespace espalier {

using Amount = std::int64_t;
using Resources = FlatMap<Amount>;  // resource name -> canonical amount; a missing name reads as 0

inline constexpr std::string_view kPodsResource = "pods";

// Returns the sum; like the two below, stays at the int64 limits instead of wrapping (R1.7).
constexpr Amount SaturatingAdd(Amount a, Amount b) {
  Amount sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<Amount>::min() : std::numeric_limits<Amount>::max();
}
constexpr Amount SaturatingSubtract(Amount a, Amount b) {
  Amount difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<Amount>::min() : std::numeric_limits<Amount>::max();
}
constexpr Amount SaturatingMultiply(Amount a, Amount b) {
  Amount product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<Amount>::min()
                            : std::numeric_limits<Amount>::max();
}

// Returns the absolute value, at most the int64 maximum.
constexpr Amount Magnitude(Amount amount) {
  return amount < 0 ? SaturatingSubtract(0, amount) : amount;
}

// Adds amounts to total, element-wise and saturating.
inline void AddTo(Resources& total, const Resources& amounts) {
  total.Merge(amounts, [](Amount& sum, Amount amount) { sum = SaturatingAdd(sum, amount); });
}

// Returns amounts * count, element-wise and saturating.
inline Resources Times(const Resources& amounts, std::int64_t count) {
  Resources product = amounts;
  for (Amount& amount : product.values()) amount = SaturatingMultiply(amount, count);
  return product;
}

}  // namespace espalier
