#define ESPALIER_LANES 4
#include "fallback_cpu/simd_implementation.inl.hpp"

namespace espalier {

SimdImplementation PlainSimdImplementation() { return MakeSimdImplementation("plain"); }

}  // namespace espalier
