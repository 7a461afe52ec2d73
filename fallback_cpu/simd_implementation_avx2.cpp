#define ESPALIER_LANES 8
#include "fallback_cpu/simd_implementation.inl.hpp"

namespace espalier {

SimdImplementation Avx2SimdImplementation() { return MakeSimdImplementation("avx2"); }

}  // namespace espalier
