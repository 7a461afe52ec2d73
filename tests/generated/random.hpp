// Random choices of the tests. Their results depend on the seed alone, on every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include "host/model/splitmix64.hpp"

namespace espalier {

class Random {
 public:
  explicit Random(std::uint64_t seed) : numbers_(seed) {}
  // Takes the first choices from the bytes themselves, two each, so that a fuzzer can steer them.
  explicit Random(std::string_view bytes) : numbers_(0), bytes_(bytes) {}

  std::uint64_t Next() { return bytes_.size() >= 2 ? NextOfBytes() : numbers_.Next(); }

  // Returns a number less than `end`, which is not 0.
  std::uint64_t Below(std::uint64_t end) { return Next() % end; }

  // Returns a number of [first, last], both included; first <= last.
  std::int64_t Between(std::int64_t first, std::int64_t last) {
    const auto width = static_cast<std::uint64_t>(last - first) + 1;
    return first + static_cast<std::int64_t>(Below(width));
  }

  bool Chance(int percent) { return Between(1, 100) <= percent; }

  template <class T>
  const T& Pick(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(Between(0, std::ssize(values) - 1))];
  }
  template <class T>
  T Pick(std::initializer_list<T> values) {
    return Pick(std::vector<T>(values));
  }

  template <class T>
  void Shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      const auto j = static_cast<std::size_t>(Between(0, static_cast<std::int64_t>(i) - 1));
      std::swap(values[i - 1], values[j]);
    }
  }

 private:
  std::uint64_t NextOfBytes() {
    const auto low = static_cast<unsigned char>(bytes_[0]);
    const auto high = static_cast<unsigned char>(bytes_[1]);
    bytes_.remove_prefix(2);
    return std::uint64_t{high} << 8 | low;
  }

  SplitMix64 numbers_;
  std::string_view bytes_;
};

}  // namespace espalier
