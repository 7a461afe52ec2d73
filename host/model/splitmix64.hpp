// The random numbers of every generated cluster and queue and of the tests: integers only, the same
// everywhere.
#pragma once

#include <cstdint>

namespace espalier {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  // Returns a number from 0 to n - 1, for n > 0.
  std::int64_t Below(std::int64_t n) {
    return static_cast<std::int64_t>(Next() % static_cast<std::uint64_t>(n));
  }
  // Returns a number from low to high.
  std::int64_t Between(std::int64_t low, std::int64_t high) { return low + Below(high - low + 1); }

 private:
  std::uint64_t state_;
};

}  // namespace espalier
