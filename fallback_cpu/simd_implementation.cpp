#include "fallback_cpu/simd_implementation.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace espalier {

// Return the implementations, each compiled for its instruction set in a file of its own.
SimdImplementation Avx512SimdImplementation();
SimdImplementation Avx2SimdImplementation();
SimdImplementation PlainSimdImplementation();

std::vector<SimdImplementation> SupportedSimdImplementations() {
  std::vector<SimdImplementation> supported;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    supported.push_back(Avx512SimdImplementation());
  }
  if (__builtin_cpu_supports("avx2")) supported.push_back(Avx2SimdImplementation());
#endif
  supported.push_back(PlainSimdImplementation());
  return supported;
}

const SimdImplementation& ActiveSimdImplementation() {
  static const SimdImplementation active = [] {
    const std::vector<SimdImplementation> supported = SupportedSimdImplementations();
    const char* wanted = std::getenv("ESPALIER_SIMD");
    if (wanted == nullptr) return supported.front();
    std::string names;
    for (const SimdImplementation& implementation : supported) {
      if (implementation.name == wanted) return implementation;
      names += fmt::format(" {}", implementation.name);
    }
    fmt::print(stderr, "espalier: ESPALIER_SIMD is \"{}\"; this machine can run:{}\n", wanted,
               names);
    std::exit(2);
  }();
  return active;
}

}  // namespace espalier
