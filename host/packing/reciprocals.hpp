// Division by multiplying: floor(amount * Reciprocal(request)) is floor(amount / request) within
// bounds, which are beside it.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/views.hpp"

namespace espalier {

// Amounts and requests below this may be divided as doubles; as floats those up to
// TiledCapacity::kMaxUnits.
inline constexpr Amount kExactAmount = Amount{1} << 51;

// Returns the smallest number that times `request` is at least 1: a multiple of the request never
// falls short of its quotient, and what is less than one stays below it. `request` is at least 1,
// and exact as a Float.
template <class Float>
Float Reciprocal(Amount request) {
  const auto divisor = static_cast<Float>(request);
  const Float inverse = Float{1} / divisor;
  if (std::fma(inverse, divisor, Float{-1}) >= 0) return inverse;
  return std::nextafter(inverse, std::numeric_limits<Float>::infinity());
}

}  // namespace espalier
