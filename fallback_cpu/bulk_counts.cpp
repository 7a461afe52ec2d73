#include "fallback_cpu/bulk_counts.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace espalier {

// Each in a file of its own, compiled for that instruction set.
BulkCounts Avx512BulkCounts();
BulkCounts Avx2BulkCounts();
BulkCounts PlainBulkCounts();

void LeafLimits::Set(std::int32_t tile, const std::uint8_t* limits) const {
  std::uint8_t* before = of_leaf + static_cast<std::ptrdiff_t>(tile) * TiledCapacity::kTileLeaves;
  for (std::int32_t lane = 0; lane < TiledCapacity::kTileLeaves; ++lane) {
    if (blank) {
      ++sums[limits[lane]];
    } else if (before[lane] != limits[lane]) {
      --sums[before[lane]];
      ++sums[limits[lane]];
    }
    before[lane] = limits[lane];
  }
}

float NarrowInverse(Amount request) {
  return std::nextafter(1.0F / static_cast<float>(request), std::numeric_limits<float>::infinity());
}

double WideInverse(Amount request) {
  return std::nextafter(1.0 / static_cast<double>(request),
                        std::numeric_limits<double>::infinity());
}

std::vector<BulkCounts> SupportedBulkCounts() {
  std::vector<BulkCounts> supported;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    supported.push_back(Avx512BulkCounts());
  }
  if (__builtin_cpu_supports("avx2")) supported.push_back(Avx2BulkCounts());
#endif
  supported.push_back(PlainBulkCounts());
  return supported;
}

const BulkCounts& ActiveBulkCounts() {
  static const BulkCounts active = [] {
    const std::vector<BulkCounts> supported = SupportedBulkCounts();
    const char* wanted = std::getenv("ESPALIER_SIMD");
    if (wanted == nullptr) return supported.front();
    std::string names;
    for (const BulkCounts& form : supported) {
      if (form.name == wanted) return form;
      names += fmt::format(" {}", form.name);
    }
    fmt::print(stderr, "espalier: ESPALIER_SIMD is \"{}\"; this machine can run:{}\n", wanted,
               names);
    std::exit(2);
  }();
  return active;
}

}  // namespace espalier
