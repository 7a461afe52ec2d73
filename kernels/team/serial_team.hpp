// One lane: the production path on a CPU. Every collective folds away.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/team/team.hpp"

namespace espalier {

class SerialTeam {
 public:
  // The function that first_tightest calls.
  using FirstTightest = std::int32_t (*)(const std::int32_t* values, const std::int32_t* ties,
                                         std::int32_t size, std::int32_t need);

  SerialTeam() = default;
  // Uses an implementation of FirstTightest compiled for this processor, and an index of all
  // leaves; null: there is none.
  explicit SerialTeam(FirstTightest form, const SliceIndex* slice_index = nullptr)
      : first_tightest_(form), slice_index_(slice_index) {}
  explicit SerialTeam(const SliceIndex* slice_index) : slice_index_(slice_index) {}

  static constexpr bool kOneLane = true;
  constexpr const SliceIndex* slice_index() const { return slice_index_; }

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
  // Keeps a heap of the first so far, whose last member leaves as soon as the rest weighs enough.
  template <class T, class Make, class Weigh, class Less>
  static SortedFront sort_front(T* front, std::int32_t n, Make make, Weigh weigh, Less less,
                                std::int64_t need) {
    SortedFront kept;
    for (std::int32_t i = 0; need > 0 && i < n; ++i) {
      const std::int64_t weight = weigh(make(i));
      if (weight <= 0 || (kept.weight >= need && !less(make(i), front[0]))) continue;
      front[kept.size++] = make(i);
      std::push_heap(front, front + kept.size, less);
      kept.weight += weight;
      while (kept.weight - weigh(front[0]) >= need) {
        kept.weight -= weigh(front[0]);
        std::pop_heap(front, front + kept.size--, less);
      }
    }
    std::sort_heap(front, front + kept.size, less);
    return kept;
  }
  std::int32_t first_tightest(const std::int32_t* values, const std::int32_t* ties, std::int32_t n,
                              std::int32_t need) const {
    return first_tightest_(values, ties, n, need);
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
  const SliceIndex* slice_index_ = nullptr;
};

}  // namespace espalier
