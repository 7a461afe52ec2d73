// The plain counting loop: two operations a cell, for the best instruction set of this machine.
#include <cstdint>
#include <cstring>

#include "bench/scenarios/floors.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kShapes = 8;

// A vector register of W floats.
struct Floats4 {
  static constexpr int W = 4;
  using Floats = float __attribute__((vector_size(16)));
};
struct Floats8 {
  static constexpr int W = 8;
  using Floats = float __attribute__((vector_size(32)));
};
struct Floats16 {
  static constexpr int W = 16;
  using Floats = float __attribute__((vector_size(64)));
};

// Inlined into functions compiled for one instruction set each.
template <class Register>
[[gnu::always_inline]] inline void CountText(const float* free, std::int64_t nodes,
                                             std::int64_t resources, const float* inverse,
                                             float* sums) {
  using Floats = typename Register::Floats;
  constexpr int W = Register::W;
  Floats total[kShapes] = {};
  for (std::int64_t node = 0; node + W <= nodes; node += W) {
    Floats least[kShapes];
    for (std::int64_t s = 0; s < kShapes; ++s) least[s] = Floats{} + 1e9F;
    for (std::int64_t r = 0; r < resources; ++r) {
      Floats amount;
      std::memcpy(&amount, free + r * nodes + node, sizeof(amount));
      for (std::int64_t s = 0; s < kShapes; ++s) {
        const Floats fits = amount * inverse[r * kShapes + s];
        least[s] = fits < least[s] ? fits : least[s];
      }
    }
    for (std::int64_t s = 0; s < kShapes; ++s) total[s] += least[s];
  }
  for (std::int64_t s = 0; s < kShapes; ++s) {
    for (int i = 0; i < W; ++i) sums[s] += total[s][i];
  }
}

void CountPlain(const float* free, std::int64_t nodes, std::int64_t resources, const float* inverse,
                float* sums) {
  CountText<Floats4>(free, nodes, resources, inverse, sums);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void CountAvx2(const float* free, std::int64_t nodes,
                                       std::int64_t resources, const float* inverse, float* sums) {
  CountText<Floats8>(free, nodes, resources, inverse, sums);
}
[[gnu::target("avx512f,avx512dq,avx512vl,avx512bw")]] void CountAvx512(const float* free,
                                                                       std::int64_t nodes,
                                                                       std::int64_t resources,
                                                                       const float* inverse,
                                                                       float* sums) {
  CountText<Floats16>(free, nodes, resources, inverse, sums);
}
#endif

}  // namespace

CountingLoop BestCountingLoop() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    return {CountAvx512, "avx512"};
  }
  if (__builtin_cpu_supports("avx2")) return {CountAvx2, "avx2"};
#endif
  return {CountPlain, "plain"};
}

}  // namespace espalier
