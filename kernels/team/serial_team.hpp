// One lane: the production path on a CPU. Every collective folds away.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/team/team.hpp"

namespace espalier {

class SerialTeam {
 public:
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
};

}  // namespace espalier
