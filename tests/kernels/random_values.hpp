// Random numbers of what domains hold.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/views.hpp"
#include "tests/generated/random.hpp"

namespace espalier {

// Returns `size` values from 0 to values_end - 1.
inline std::vector<StoredCount> RandomValues(Random& random, std::int32_t size,
                                             std::uint32_t values_end) {
  std::vector<StoredCount> values;
  for (std::int32_t i = 0; i < size; ++i) {
    values.push_back(static_cast<StoredCount>(random.Below(values_end)));
  }
  return values;
}

}  // namespace espalier
