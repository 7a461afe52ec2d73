// The searches of simd_implementation.inl.hpp: which groups changed, which domain is the tightest.
// Included as that is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fallback_cpu/vector.inl.hpp"
#include "host/packing/group_stamps.hpp"
#include "kernels/views.hpp"

namespace espalier {
namespace {

std::int32_t FindChanged(const Stamp* stamps, const StoredCount* pods, std::int32_t begin,
                         std::int32_t end, Stamp since, std::int32_t* groups) {
  std::int32_t count = 0;
  std::int32_t group = begin;
  for (; group + kLanes <= end; group += kLanes) {
#if ESPALIER_LANES == 16
    const __m512i before = _mm512_set1_epi64(static_cast<std::int64_t>(since));
    const __mmask8 low = _mm512_cmpgt_epu64_mask(_mm512_loadu_si512(stamps + group), before);
    const __mmask8 high = _mm512_cmpgt_epu64_mask(_mm512_loadu_si512(stamps + group + 8), before);
    __mmask16 wanted = _mm512_kunpackb(high, low);
    if (pods != nullptr) {
      wanted = _mm512_mask_cmpgt_epi32_mask(wanted, _mm512_loadu_si512(pods + group),
                                            _mm512_setzero_si512());
    }
    const std::uint32_t bits = wanted;
#else
    Integers wanted = __builtin_convertvector(Load<Wides>(stamps + group) > since, Integers);
    if (pods != nullptr) wanted &= Load<Integers>(pods + group) > 0;
    const std::uint32_t bits = BitsOf(wanted);
#endif
    count += WriteBits(bits, group, groups + count);
  }
  for (; group < end; ++group) {
    if (stamps[group] > since && (pods == nullptr || pods[group] > 0)) groups[count++] = group;
  }
  return count;
}

// Values that are looked at between two decisions.
constexpr std::int32_t kStride = 8 * kLanes;

// Returns the index of the first of `size` values that is `value`, from `begin` on, and has `tie`
// in `ties`.
inline std::int32_t FindEqual(const StoredCount* values, StoredCount value, const StoredCount* ties,
                              StoredCount tie, std::int32_t begin, std::int32_t size) {
  std::int32_t i = begin;
  for (; i + kStride <= size; i += kStride) {
    Integers equal = {};
    for (std::int32_t j = i; j < i + kStride; j += kLanes) {
      equal |= (Load<Integers>(values + j) == value) & (Load<Integers>(ties + j) == tie);
    }
    if (BitsOf(equal) != 0) break;
  }
  while (values[i] != value || ties[i] != tie) ++i;
  return i;
}

// Returns the smallest entry in `ties` of the values that are `value`, of which there is one.
inline StoredCount LeastTie(const StoredCount* values, StoredCount value, const StoredCount* ties,
                            std::int32_t begin, std::int32_t size) {
  const Integers none = Integers{} + kMaxStored;
  Integers least = none;
  std::int32_t i = begin;
  for (; i + kLanes <= size; i += kLanes) {
    const Integers wanted = Load<Integers>(values + i) == value;
    least = Smaller(wanted ? Load<Integers>(ties + i) : none, least);
  }
  StoredCount smallest = LeastOf(least);
  for (; i < size; ++i) {
    if (values[i] == value) smallest = std::min(smallest, ties[i]);
  }
  return smallest;
}

std::int32_t FindTightest(const StoredCount* values, const StoredCount* ties, std::int32_t size,
                          StoredCount need) {
  // Returns by how much a value is more than `need`; a lesser value wraps to more than any.
  const auto above = [&](std::int32_t i) {
    return static_cast<std::uint32_t>(values[i]) - static_cast<std::uint32_t>(need);
  };
  std::uint32_t least = static_cast<std::uint32_t>(kMaxStored) + 1;
  std::int32_t begin = 0;  // the first one is not before
  std::int32_t i = 0;
  for (; i + kStride <= size && least != 0; i += kStride) {
    Unsigned of_stride = Unsigned{} + least;
    for (std::int32_t j = i; j < i + kStride; j += kLanes) {
      of_stride = Smaller(Load<Unsigned>(values + j) - static_cast<std::uint32_t>(need), of_stride);
    }
    if (BitsOf(reinterpret_cast<Integers>(of_stride != least)) == 0) continue;
    for (std::int32_t lane = 0; lane < kLanes; ++lane) least = std::min(least, of_stride[lane]);
    begin = i;
  }
  for (; i < size && least != 0; ++i) {
    if (above(i) < least) begin = i;
    least = std::min(least, above(i));
  }
  if (least > static_cast<std::uint32_t>(kMaxStored)) return -1;
  const auto value = static_cast<StoredCount>(static_cast<std::uint32_t>(need) + least);
  if (ties == nullptr) return FindEqual(values, value, values, value, begin, size);
  return FindEqual(values, value, ties, LeastTie(values, value, ties, begin, size), begin, size);
}

}  // namespace
}  // namespace espalier
