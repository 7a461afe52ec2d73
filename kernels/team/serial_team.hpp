// One lane: the production path on a CPU. Every collective folds away.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/team/team.hpp"

namespace espalier {

class SerialTeam {
 public:
  // Position of the first smallest value >= need among `size` values, or -1. Of equal values the
  // one with the smallest entry in `ties`, where that is not null, is smaller.
  using FirstTightest = std::int32_t (*)(const std::int32_t* values, const std::int32_t* ties,
                                         std::int32_t size, std::int32_t need);

  SerialTeam() = default;
  // With a form compiled for the processor at hand.
  explicit SerialTeam(FirstTightest form) : first_tightest_(form) {}

  std::int32_t first_tightest(const std::int32_t* values, const std::int32_t* ties,
                              std::int32_t size, std::int32_t need) const {
    return first_tightest_(values, ties, size, need);
  }

  static constexpr std::int32_t rank() { return 0; }
  static constexpr std::int32_t size() { return 1; }
  static constexpr void sync() {}
  template <class T>
  static T broadcast(T value, std::int32_t /*root*/) {
    return value;
  }
  static bool any(bool predicate) { return predicate; }
  template <class T, class Op>
  static T reduce(T value, T identity, Op op) {
    return op(identity, value);
  }
  template <class T>
  static ScanResult<T> exclusive_sum(T value) {
    return {T{}, value};
  }
  template <class T, class Less>
  static T minimum(T value, Less /*less*/) {
    return value;
  }
  template <class T, class Less>
  static void sort(T* first, std::int32_t n, Less less) {
    std::sort(first, first + n, less);
  }

 private:
  static std::int32_t PlainFirstTightest(const std::int32_t* values, const std::int32_t* ties,
                                         std::int32_t size, std::int32_t need) {
    const auto tighter = [&](std::int32_t a, std::int32_t b) {
      return values[a] != values[b] ? values[a] < values[b] : ties != nullptr && ties[a] < ties[b];
    };
    std::int32_t best = -1;
    for (std::int32_t i = 0; i < size; ++i) {
      if (values[i] >= need && (best < 0 || tighter(i, best))) best = i;
    }
    return best;
  }

  FirstTightest first_tightest_ = PlainFirstTightest;
};

}  // namespace espalier
