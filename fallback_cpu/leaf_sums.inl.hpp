// Implements the part of simd_implementation.inl.hpp that sums up leaves which have been counted.
// Included as that is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fallback_cpu/simd_implementation.hpp"
#include "fallback_cpu/vector.inl.hpp"

namespace espalier {
namespace {

// Returns what the leaves [begin, end), by domain id, hold together. A leaf that cannot hold the
// leader counts as one that loses the most there can be.
template <bool kSlices, bool kLeader>
inline ChildSums SumChildrenOf(const CountsView& leaves, std::int32_t begin, std::int32_t end) {
  constexpr std::uint32_t kAll = (1U << kLanes) - 1;
  const Integers most = Integers{} + kMaxStored;
  Integers pods = {};
  Integers slices = {};
  Integers lost_pods = most;
  Integers lost_slices = most;
  for (std::int32_t d = begin; d < end; d += kLanes) {
    const Integers present = LanesOf(end - d >= kLanes ? kAll : (1U << (end - d)) - 1, 0);
    const auto of_pods = Load<Integers>(leaves.pods + d) & present;
    pods += of_pods;
    Integers of_slices = of_pods;
    if constexpr (kSlices) {
      of_slices = Load<Integers>(leaves.slices + d) & present;
      slices += of_slices;
    }
    if constexpr (kLeader) {
      const Integers leaders = LoadBytes(leaves.leaders + d) & present;
      const Integers lost = of_pods - Load<Integers>(leaves.pods_with_leader + d);
      lost_pods = Smaller(leaders > 0 ? lost : most, lost_pods);
      if constexpr (kSlices) {
        const Integers lost_here = of_slices - Load<Integers>(leaves.slices_with_leader + d);
        lost_slices = Smaller(leaders > 0 ? lost_here : most, lost_slices);
      }
    }
  }
  ChildSums sums;
  sums.pods = SumOf(pods);
  sums.slices = kSlices ? SumOf(slices) : sums.pods;
  if constexpr (kLeader) {
    const StoredCount least = LeastOf(lost_pods);
    sums.leader = least != kMaxStored;
    sums.least_lost_pods = least;
    sums.least_lost_slices = kSlices ? LeastOf(lost_slices) : least;
  }
  return sums;
}

template <bool kSlices, bool kLeader>
void SumChildrenOfGroups(const GroupLayout& layout, const LeafGroups& groups,
                         const CountsView& leaves, ChildSums* sums) {
  for (std::int32_t i = 0; i < groups.count; ++i) {
    const std::int32_t* begin = layout.leaf_begin + groups[i];
    sums[i] = SumChildrenOf<kSlices, kLeader>(leaves, begin[0], begin[1]);
  }
}

void SumChildrenInBulk(const GroupLayout& layout, const LeafGroups& groups,
                       const CountsView& leaves, ChildSums* sums) {
  const bool slices = leaves.slices != leaves.pods;
  if (leaves.leaders != nullptr) {
    return slices ? SumChildrenOfGroups<true, true>(layout, groups, leaves, sums)
                  : SumChildrenOfGroups<false, true>(layout, groups, leaves, sums);
  }
  return slices ? SumChildrenOfGroups<true, false>(layout, groups, leaves, sums)
                : SumChildrenOfGroups<false, false>(layout, groups, leaves, sums);
}

void Divide(const StoredCount* values, std::int32_t size, double inverse, StoredCount* quotients) {
  std::int32_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const Doubles product = __builtin_convertvector(Load<Integers>(values + i), Doubles) * inverse;
    const Integers quotient = __builtin_convertvector(product, Integers);
    std::memcpy(quotients + i, &quotient, sizeof(quotient));
  }
  for (; i < size; ++i) quotients[i] = static_cast<StoredCount>(values[i] * inverse);
}

void NoteRuns(const StoredCount* slices, std::int32_t leaves, SliceIndex::Run* runs) {
  constexpr std::int32_t kBits = kLanes / 2;  // of 64 bits in a register
  using Bits = std::uint64_t __attribute__((vector_size(kBits * sizeof(std::uint64_t))));
  using Counts = StoredCount __attribute__((vector_size(kBits * sizeof(StoredCount))));
  const Counts last = Counts{} + SliceIndex::kLastBit;
  for (std::int32_t begin = 0; begin < leaves; begin += SliceIndex::kRun, ++runs) {
    const std::int32_t end = std::min(begin + SliceIndex::kRun, leaves);
    Bits held_by_lane = {};
    std::int32_t i = begin;
    for (; i + kBits <= end; i += kBits) {
      const Counts bit = Smaller(Load<Counts>(slices + i), last);
      held_by_lane |= (Bits{} + 1) << __builtin_convertvector(bit, Bits);
    }
    std::uint64_t held = 0;
    for (std::int32_t lane = 0; lane < kBits; ++lane) held |= held_by_lane[lane];
    for (; i < end; ++i) held |= std::uint64_t{1} << std::min(slices[i], SliceIndex::kLastBit);
    const StoredCount most = SliceIndex::kLastBit - __builtin_clzll(held);
    Integers equal = {};
    for (i = begin; i + kLanes <= end; i += kLanes) equal -= Load<Integers>(slices + i) == most;
    std::int32_t with_most = SumOf(equal);
    for (; i < end; ++i) with_most += slices[i] == most ? 1 : 0;
    *runs = {held, with_most};
  }
}

}  // namespace
}  // namespace espalier
