// Implements the part of simd_implementation.inl.hpp that counts by classes of leaves. Included as
// that is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#if ESPALIER_LANES > 4
#include <immintrin.h>
#endif

#include "fallback_cpu/simd_implementation.hpp"
#include "fallback_cpu/vector.inl.hpp"

namespace espalier {
namespace {

#if ESPALIER_LANES > 4

// The first entries of a ClassTable in registers, 16 in each, twice.
class LookUp {
 public:
  explicit LookUp(const ClassTable& table) : pairs_((table.classes + 31) / 32) {
    for (std::int32_t i = 0; i < 2 * pairs_; ++i) {
      const auto* values = reinterpret_cast<const __m128i*>(table.values) + i;
      tables_[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128(values));
    }
  }

  // Looks up a value for each byte; 0 for classes behind the last one.
  __m256i operator()(__m256i classes) const {
    __m256i found = _mm256_setzero_si256();
    for (std::int32_t pair = 0; pair < pairs_; ++pair) {
      // Everything but 0 to 31 gets its highest bit set, which makes the shuffles answer 0.
      const __m256i index = _mm256_adds_epu8(classes, _mm256_set1_epi8(0x60));
      const __m256i low = _mm256_shuffle_epi8(tables_[2 * pair], index);
      const __m256i high = _mm256_shuffle_epi8(tables_[2 * pair + 1], index);
      const __m256i sixteen_or_more = _mm256_slli_epi16(index, 3);
      found = _mm256_or_si256(found, _mm256_blendv_epi8(low, high, sixteen_or_more));
      classes = _mm256_sub_epi8(classes, _mm256_set1_epi8(32));
    }
    return found;
  }

 private:
  __m256i tables_[sizeof(ClassTable::values) / sizeof(__m128i)];
  std::int32_t pairs_;
};

// Adds the halves of what each tile has in two registers of two tiles: lanes 0, 2, 1, 3.
inline __m256i AddTiles(__m256i first, __m256i second) {
  return _mm256_add_epi64(_mm256_unpacklo_epi64(first, second),
                          _mm256_unpackhi_epi64(first, second));
}

// Returns all ones in the bytes whose bit is set.
inline __m256i BytesOf(std::uint32_t bits) {
  // Byte i of every eight has bit i alone.
  const __m256i bit = _mm256_set1_epi64x(static_cast<std::int64_t>(0x8040201008040201U));
  const __m256i spread =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i bytes =
      _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<std::int32_t>(bits)), spread);
  return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
}

// Writes the sums of as many tiles as come in eights; returns how many tiles that are.
inline std::int32_t SumEights(const ClassTable& table, const std::uint8_t* classes,
                              const std::uint64_t* matches, std::int32_t tiles, StoredCount* sums) {
  constexpr std::int32_t kEight = 8;
  constexpr std::int32_t kBytes = sizeof(__m256i);
  const LookUp look_up(table);
  const __m256i in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  std::int32_t done = 0;
  for (; done + kEight <= tiles; done += kEight, classes += 4 * kBytes) {
    __m256i values[4];
    for (std::int32_t i = 0; i < 4; ++i) {
      const auto* of_two = reinterpret_cast<const __m256i*>(classes + i * kBytes);
      __m256i of_leaf = look_up(_mm256_loadu_si256(of_two));
      if (matches != nullptr) {
        const std::uint64_t of_four = matches[done / 4 + i / 2];
        of_leaf = _mm256_and_si256(
            of_leaf, BytesOf(static_cast<std::uint32_t>(of_four >> (i % 2 * kBytes))));
      }
      values[i] = _mm256_sad_epu8(of_leaf, _mm256_setzero_si256());
    }
    const __m256 even = _mm256_castsi256_ps(AddTiles(values[0], values[1]));
    const __m256 odd = _mm256_castsi256_ps(AddTiles(values[2], values[3]));
    const __m256i all = _mm256_castps_si256(_mm256_shuffle_ps(even, odd, 0x88));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + done),
                        _mm256_permutevar8x32_epi32(all, in_order));
  }
  return done;
}

#else

inline std::int32_t SumEights(const ClassTable& /*table*/, const std::uint8_t* /*classes*/,
                              const std::uint64_t* /*matches*/, std::int32_t /*tiles*/,
                              StoredCount* /*sums*/) {
  return 0;
}

#endif

void SumClasses(const ClassTable& table, const std::uint8_t* classes, const std::uint64_t* matches,
                const GroupLayout& layout, std::int32_t groups, StoredCount* sums) {
  std::int32_t group = layout.tiles ? SumEights(table, classes, matches, groups, sums) : 0;
  for (; group < groups; ++group) {
    const std::int32_t end = layout.leaf_begin[group + 1] - layout.first_leaf;
    sums[group] = 0;
    for (std::int32_t leaf = layout.leaf_begin[group] - layout.first_leaf; leaf < end; ++leaf) {
      const bool counts = matches == nullptr || (matches[leaf >> 6] >> (leaf & 63) & 1) != 0;
      if (counts) sums[group] += table.values[classes[leaf]];
    }
  }
}

constexpr std::int32_t kAmounts = kLanes / 2;  // in a register
using Amounts = std::int64_t __attribute__((vector_size(kAmounts * sizeof(std::int64_t))));
using AmountReasons = std::int16_t __attribute__((vector_size(kAmounts * sizeof(std::int16_t))));
using Reasons = std::int16_t __attribute__((vector_size(kLanes * sizeof(std::int16_t))));

void FindReasons(const RequestView& request, const CapacityView& capacity, std::int32_t leaves,
                 std::int16_t* reasons) {
  constexpr std::int32_t kRun = SimdImplementation::kReadAhead;
  constexpr std::int32_t kRegisters = kRun / kAmounts;
  for (std::int32_t leaf = 0; leaf < leaves; leaf += kRun) {
    Amounts found[kRegisters];
    for (Amounts& reason : found) reason = Amounts{} - 1;
    for (std::int32_t i = request.size - 1; i >= 0; --i) {  // the first one comes last
      const Amount need = request.amount[i];
      if (need == 0) continue;
      const std::int32_t column = request.column[i];
      const Amount* remaining = capacity.amounts + column * capacity.stride + leaf;
      for (std::int32_t r = 0; r < kRegisters; ++r) {
        const Amounts held = column < 0 ? Amounts{} : Load<Amounts>(remaining + r * kAmounts);
        const Amounts lacks = held < Amounts{} + need;
        found[r] = (found[r] & ~lacks) | (lacks & i);
      }
    }
    for (std::int32_t r = 0; r < kRegisters; ++r) {
      const auto narrow = __builtin_convertvector(found[r], AmountReasons);
      std::memcpy(reasons + leaf + r * kAmounts, &narrow, sizeof(narrow));
    }
  }
}

void FindReasonsInTiles(const BulkRequest& request, std::int32_t first_tile, std::int32_t tiles,
                        std::int16_t* reasons) {
  const BulkRequest::Vector& workers = request.workers;
  for (std::int32_t tile = first_tile; tile < first_tile + tiles; ++tile) {
    const float* const units = request.tiles + static_cast<std::size_t>(tile) * request.tile_stride;
    for (std::int32_t part = 0; part < TiledCapacity::kTileLeaves; part += kLanes) {
      Integers found = Integers{} - 1;
      for (std::size_t i = workers.narrow.size(); i-- > 0;) {  // the first one comes last
        const BulkRequest::FloatColumn& entry = workers.narrow[i];
        const Integers lacks = reinterpret_cast<Integers>(Load<Floats>(units + entry.row + part) <
                                                          Floats{} + entry.request);
        found = (found & ~lacks) | (lacks & workers.resource[i]);
      }
      const auto narrow = __builtin_convertvector(found, Reasons);
      std::memcpy(reasons, &narrow, sizeof(narrow));
      reasons += kLanes;
    }
  }
}

void AddByReason(const std::int16_t* reasons, const std::int32_t* times, std::int32_t count,
                 std::int32_t size, std::int64_t* by_reason) {
  constexpr std::int32_t kAtOnce = 4;
  const std::int32_t whole = count / kLanes * kLanes;
  for (std::int32_t first = 0; first < size; first += kAtOnce) {
    Integers sums[kAtOnce] = {};
    for (std::int32_t at = 0; at < whole; at += kLanes) {
      const Integers reason = __builtin_convertvector(Load<Reasons>(reasons + at), Integers);
      const Integers added = times == nullptr ? Integers{} + 1 : Load<Integers>(times + at);
      for (std::int32_t i = 0; i < kAtOnce; ++i) sums[i] += added & (reason == first + i);
    }
    for (std::int32_t i = 0; i < std::min(kAtOnce, size - first); ++i) {
      by_reason[first + i] += SumOf(sums[i]);
    }
  }
  for (std::int32_t at = whole; at < count; ++at) {
    if (reasons[at] >= 0) by_reason[reasons[at]] += times == nullptr ? 1 : times[at];
  }
}

}  // namespace
}  // namespace espalier
