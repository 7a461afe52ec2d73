// Which domain a failed node's pods must return to so that slices become whole again (R17.6).
#pragma once

#include <cstdint>

#include "kernels/views.hpp"

namespace espalier {

// Remaining shares of an assignment; shares of one domain stand together.
struct RemainingView {
  std::int32_t size = 0;
  const std::int32_t* ancestor = nullptr;  // [size] domain of each share at the level looked at
  const Count* pods = nullptr;             // [size]
};

// The first domain at the level whose remaining pods plus `lost` make whole slices of `size`, or
// -1. The same on every lane.
ESPALIER_HD inline std::int32_t IncompleteSliceDomain(const RemainingView& remaining, Count lost,
                                                      Count size) {
  Count pods = 0;
  for (std::int32_t i = 0; i < remaining.size; ++i) {
    pods += remaining.pods[i];
    const bool run_ends =
        i + 1 == remaining.size || remaining.ancestor[i + 1] != remaining.ancestor[i];
    if (!run_ends) continue;
    if (pods > 0 && (pods + lost) % size == 0) return remaining.ancestor[i];
    pods = 0;
  }
  return -1;
}

}  // namespace espalier
