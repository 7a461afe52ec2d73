#define ESPALIER_LANES 16
#include "fallback_cpu/simd_implementation.inl.hpp"

namespace espalier {

SimdImplementation Avx512SimdImplementation() { return MakeSimdImplementation("avx512"); }

}  // namespace espalier
