// Computes how many pods of one request vector fit into a remaining vector (R5.9, R5.10).
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/views.hpp"

namespace espalier {

inline constexpr Count kMaxFit = 2147483647;

// Remaining capacity of the leaves, structure of arrays: column r starts at amounts + r * stride.
struct CapacityView {
  const Amount* amounts = nullptr;
  std::int64_t stride = 0;  // leaves, padded

  ESPALIER_HD Amount At(std::int32_t column, std::int32_t leaf) const {
    return amounts[column * stride + leaf];
  }
};

// Per-pod requests in byte-wise order of the resource names, pod slots included (R5.11).
struct RequestView {
  std::int32_t size = 0;
  const std::int32_t* column = nullptr;  // into CapacityView; -1: no node has it, capacity reads 0
  const Amount* amount = nullptr;
};

// Returns clamp(capacity / request, 0, 2147483647); a request of 0 allows the maximum.
ESPALIER_HD inline Count FitOne(Amount request, Amount capacity) {
  if (request == 0) return kMaxFit;
  if (request == -1) {  // the one divisor whose quotient can leave int64
    if (capacity >= 0 || capacity == std::numeric_limits<Amount>::min()) return 0;
    return -capacity < kMaxFit ? -capacity : kMaxFit;
  }
  const Amount quotient = capacity / request;
  if (quotient < 0) return 0;
  return quotient < kMaxFit ? quotient : kMaxFit;
}

// Returns whether no pod fits, without dividing.
ESPALIER_HD inline bool FitsNone(Amount request, Amount capacity) {
  return request > 0 ? capacity < request : FitOne(request, capacity) == 0;
}

struct Fit {
  Count count = 0;
  std::int32_t limiting = -1;  // index into the request; the smallest name among equal minima
};

// Returns how many pods fit. `remaining(i)` is the remaining capacity for request entry i. An empty
// request gives 0.
template <class Remaining>
ESPALIER_HD Fit FitAll(const RequestView& request, const Remaining& remaining) {
  Fit fit;
  for (std::int32_t i = 0; i < request.size; ++i) {
    const Count count = FitOne(request.amount[i], remaining(i));
    if (fit.limiting < 0 || count < fit.count) fit = {count, i};
    if (fit.count == 0) break;  // nothing is less
  }
  return fit;
}

// Returns the entry that FitAll says is limiting where no pod fits; -1 where one does, and for an
// empty request.
template <class Remaining>
ESPALIER_HD std::int32_t FirstWithoutRoom(const RequestView& request, const Remaining& remaining) {
  for (std::int32_t i = 0; i < request.size; ++i) {
    if (FitsNone(request.amount[i], remaining(i))) return i;
  }
  return -1;
}

}  // namespace espalier
