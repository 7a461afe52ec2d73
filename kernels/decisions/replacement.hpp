// Which domain the pods of failed nodes must return to so that slices become whole again (R17.6).
#pragma once

#include <cstdint>

#include "kernels/views.hpp"

namespace espalier {

// Remaining shares of an assignment; shares of one domain are adjacent.
struct RemainingView {
  std::int32_t size = 0;
  const std::int32_t* ancestor = nullptr;  // [size] domain of each share at the level looked at
  const Count* pods = nullptr;             // [size]
};

// Returns the first domain at the level whose remaining pods plus `lost` make whole slices of
// `size`, or -1. The same on every lane.
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

// A domain that holds a part of a slice.
struct BrokenSlice {
  std::int32_t ancestor = -1;  // -1: there is none
  Count missing = 0;           // pods that make its slices whole
};

// Returns the first domain at the level whose remaining pods are no whole slices of `size`, which
// is at least 1. The same on every lane.
ESPALIER_HD inline BrokenSlice FirstBrokenSlice(const RemainingView& remaining, Count size) {
  Count pods = 0;
  for (std::int32_t i = 0; i < remaining.size; ++i) {
    pods += remaining.pods[i];
    const bool run_ends =
        i + 1 == remaining.size || remaining.ancestor[i + 1] != remaining.ancestor[i];
    if (!run_ends) continue;
    if (pods % size != 0) return {remaining.ancestor[i], size - pods % size};
    pods = 0;
  }
  return {};
}

}  // namespace espalier
