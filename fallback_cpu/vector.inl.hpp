// One vector register of the instruction set that bulk counting is being compiled for, and what
// the compilers' vector extension cannot express. Included as simd_implementation.inl.hpp is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#if ESPALIER_LANES > 4
#include <immintrin.h>
#endif

namespace espalier {
namespace {

constexpr std::int32_t kLanes = ESPALIER_LANES;  // floats in a register

using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));
using Integers = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));
using Unsigned = std::uint32_t __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));
using Wides = std::uint64_t __attribute__((vector_size(kLanes * sizeof(std::uint64_t))));

template <class Vector, class Item>
inline Vector Load(const Item* items) {
  Vector vector;
  std::memcpy(&vector, items, sizeof(vector));
  return vector;
}

template <class Vector>
inline Vector Smaller(Vector a, Vector b) {
  return a < b ? a : b;
}
template <class Vector>
inline Vector NotNegative(Vector a) {
  const Vector zero = {};
  return a > zero ? a : zero;
}

// Returns all ones in the lanes of a part whose bit is set.
inline Integers LanesOf(std::uint32_t bits, std::int32_t part) {
  Integers lane;
  for (std::int32_t i = 0; i < kLanes; ++i) lane[i] = i;
  const auto shifted = static_cast<std::int32_t>(bits >> (part * kLanes));
  return -(((Integers{} + shifted) >> lane) & 1);
}

// Returns a bitmap whose bit i is set where lane i is all ones.
inline std::uint32_t BitsOf(Integers lanes) {
#if ESPALIER_LANES == 16
  return _mm512_movepi32_mask(reinterpret_cast<__m512i>(lanes));
#elif ESPALIER_LANES == 8
  return static_cast<std::uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(lanes)));
#else
  std::uint32_t bits = 0;
  for (std::int32_t i = 0; i < kLanes; ++i) bits |= static_cast<std::uint32_t>(lanes[i] & 1) << i;
  return bits;
#endif
}

// Returns the lanes with those that are `kHalf` apart exchanged.
template <std::int32_t kHalf, std::int32_t... kLane>
inline Integers Exchanged(Integers lanes, std::integer_sequence<std::int32_t, kLane...>) {
  return __builtin_shufflevector(lanes, lanes, (kLane ^ kHalf)...);
}

// Returns `op` over all lanes. kHalf = kLanes / 2 to begin with.
template <std::int32_t kHalf, class Op>
inline std::int32_t Fold(Integers lanes, Op op) {
  lanes = op(lanes, Exchanged<kHalf>(lanes, std::make_integer_sequence<std::int32_t, kLanes>()));
  if constexpr (kHalf > 1) return Fold<kHalf / 2>(lanes, op);
  return lanes[0];
}

// Returns the sum of all lanes, which must fit one.
inline std::int32_t SumOf(Integers lanes) {
  return Fold<kLanes / 2>(lanes, [](Integers a, Integers b) { return a + b; });
}

// Returns the least of all lanes.
inline std::int32_t LeastOf(Integers lanes) {
  return Fold<kLanes / 2>(lanes, [](Integers a, Integers b) { return Smaller(a, b); });
}

using LaneBytes = std::uint8_t __attribute__((vector_size(kLanes)));

// Returns bytes as lanes.
inline Integers LoadBytes(const std::uint8_t* bytes) {
#if ESPALIER_LANES == 8
  return reinterpret_cast<Integers>(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes))));
#else
  return __builtin_convertvector(Load<LaneBytes>(bytes), Integers);
#endif
}

// Returns a bitmap whose bit i is set where units[i] < need.
inline std::uint32_t BelowBits(const float* units, float need) {
#if ESPALIER_LANES == 16
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(units), _mm512_set1_ps(need), _CMP_LT_OQ);
#else
  return BitsOf(reinterpret_cast<Integers>(Load<Floats>(units) < Floats{} + need));
#endif
}

#if ESPALIER_LANES == 8
// The positions of the bits that are set in every byte, the lowest one first.
constexpr struct Positions {
  constexpr Positions() {
    for (std::size_t bits = 0; bits < 256; ++bits) {
      std::size_t count = 0;
      for (std::uint8_t at = 0; at < 8; ++at) {
        if ((bits >> at & 1) != 0) of_bits[bits][count++] = at;
      }
    }
  }
  std::uint8_t of_bits[256][8] = {};
} kPositions;
#endif

// Writes the positions of the bits that are set, `first` added to each; returns how many. There is
// room for kLanes.
inline std::int32_t WriteBits(std::uint32_t bits, std::int32_t first, std::int32_t* out) {
  // Before the mask may go to memory: GCC 12 writes two bytes of it and counts four.
  const std::int32_t count = __builtin_popcount(bits);
#if ESPALIER_LANES == 16
  const __m512i ids =
      _mm512_add_epi32(_mm512_set1_epi32(first),
                       _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(static_cast<__mmask16>(bits), ids));
#elif ESPALIER_LANES == 8
  const __m256i ids = _mm256_add_epi32(
      _mm256_set1_epi32(first), _mm256_cvtepu8_epi32(_mm_loadl_epi64(
                                    reinterpret_cast<const __m128i*>(kPositions.of_bits[bits]))));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), ids);
#else
  for (; bits != 0; bits &= bits - 1) *out++ = first + __builtin_ctz(bits);
#endif
  return count;
}

}  // namespace
}  // namespace espalier
