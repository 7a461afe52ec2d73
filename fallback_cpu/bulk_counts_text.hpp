// The text of bulk counting, compiled once per instruction set on the compilers' vector extension:
// ESPALIER_LANES is the number of doubles in one vector register. Include only from
// bulk_counts_<set>.cpp; everything has internal linkage so that no code for one set leaks into
// another.
#pragma once

#include <cstdint>
#include <cstring>

#include "fallback_cpu/bulk_counts.hpp"

namespace espalier {
namespace {

constexpr std::int32_t kLanes = ESPALIER_LANES;
static_assert(kLanes <= kBulkReadAhead);
using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));
using Amounts = std::int64_t __attribute__((vector_size(kLanes * sizeof(std::int64_t))));
using Bits = std::uint64_t __attribute__((vector_size(kLanes * sizeof(std::uint64_t))));
using Counts = StoredCount __attribute__((vector_size(kLanes * sizeof(StoredCount))));

inline Amounts Load(const Amount* amounts) {
  Amounts vector;
  std::memcpy(&vector, amounts, sizeof(vector));
  return vector;
}

// Exact for |x| < 2^51: the bits of 1.5 * 2^52 + x read as a double. Columns outside that range are
// counted elsewhere, but a read past a column's end may meet any value: the sum wraps.
inline Doubles ToDoubles(Amounts x) {
  const Bits biased = reinterpret_cast<Bits>(x) + 0x4338000000000000;
  Doubles read;
  std::memcpy(&read, &biased, sizeof(read));
  return read - 6755399441055744.0;
}

inline Doubles Smaller(Doubles a, Doubles b) { return a < b ? a : b; }

// All ones in the lanes of leaves that pass the node filter and lie before `end`.
inline Amounts Selected(const std::uint64_t* matches, std::int32_t leaf, std::int32_t end) {
  if (matches == nullptr && end - leaf >= kLanes) return ~Amounts{};
  std::uint64_t bits = ~std::uint64_t{0};
  if (matches != nullptr) {
    const std::int32_t shift = leaf & 63;
    bits = matches[leaf >> 6] >> shift;
    if (shift + kLanes > 64 && leaf + 64 - shift < end) {
      bits |= matches[(leaf >> 6) + 1] << (64 - shift);
    }
  }
  if (end - leaf < kLanes) bits &= (std::uint64_t{1} << (end - leaf)) - 1;
  Amounts lane;
  for (std::int32_t i = 0; i < kLanes; ++i) lane[i] = i;
  return -(((Amounts{} + static_cast<std::int64_t>(bits)) >> lane) & 1);
}

// Whole, non-negative counts of the selected lanes, zero elsewhere; at most `lanes` are written.
inline void StoreCounts(Doubles least, Amounts selected, std::int32_t lanes, StoredCount* out) {
  const Doubles zero = {};
  const Doubles kept = selected != 0 ? (least > zero ? least : zero) : zero;
  const Counts counts = __builtin_convertvector(kept, Counts);
  if (lanes >= kLanes) {
    std::memcpy(out, &counts, sizeof(counts));
  } else {
    for (std::int32_t i = 0; i < lanes; ++i) out[i] = counts[i];
  }
}

// What the leaves hold for workers alone.
inline Doubles FitWorkers(const BulkRequest::Entry* first, const BulkRequest::Entry* last,
                          std::int32_t leaf) {
  Doubles least = Doubles{} + 2147483647.0;
  for (const BulkRequest::Entry* entry = first; entry != last; ++entry) {
    least = Smaller(ToDoubles(Load(entry->column + leaf)) * entry->inverse, least);
  }
  return least;
}

// The same where one leader sits on the leaf already.
inline Doubles FitBesideLeader(const BulkRequest::Entry* first, const BulkRequest::Entry* last,
                               std::int32_t leaf) {
  Doubles least = Doubles{} + 2147483647.0;
  for (const BulkRequest::Entry* entry = first; entry != last; ++entry) {
    const Doubles rest = ToDoubles(Load(entry->column + leaf)) - entry->leader;
    least = Smaller(rest * entry->inverse, least);
  }
  return least;
}

// All ones where the leader fits.
inline Amounts LeaderFits(const BulkRequest::Entry* first, const BulkRequest::Entry* last,
                          std::int32_t leaf) {
  Amounts fits = ~Amounts{};
  for (const BulkRequest::Entry* entry = first; entry != last; ++entry) {
    fits &= ToDoubles(Load(entry->column + leaf)) >= static_cast<double>(entry->request);
  }
  return fits;
}

void CountBulk(const BulkRequest& request, std::int32_t begin, std::int32_t end, StoredCount* pods,
               StoredCount* pods_with_leader, std::uint8_t* leaders) {
  const BulkRequest::Entry* workers = request.workers.data();
  const BulkRequest::Entry* workers_end = workers + request.workers.size();
  const BulkRequest::Entry* leader = request.leader.data();
  const BulkRequest::Entry* leader_end = leader + request.leader.size();
  for (std::int32_t leaf = begin; leaf < end; leaf += kLanes) {
    const std::int32_t lanes = end - leaf;
    const Amounts selected = Selected(request.matches, leaf, end);
    const Doubles least = FitWorkers(workers, workers_end, leaf);
    StoreCounts(least, selected, lanes, pods + leaf);
    if (leader == leader_end) continue;
    // A leaf that cannot host the leader keeps PW = P (R7.11).
    const Amounts fits = LeaderFits(leader, leader_end, leaf);
    const Doubles beside = FitBesideLeader(workers, workers_end, leaf);
    StoreCounts(fits != 0 ? beside : least, selected, lanes, pods_with_leader + leaf);
    const Amounts led = fits & selected & 1;
    for (std::int32_t i = 0; i < kLanes && i < lanes; ++i) {
      leaders[leaf + i] = static_cast<std::uint8_t>(led[i]);
    }
  }
}

void LimitBulk(const BulkRequest& request, std::int32_t begin, std::int32_t end,
               std::int32_t* limited_by) {
  Amounts sums[kMaxBulkResources];
  const std::size_t resources = request.workers.size();
  for (std::size_t r = 0; r < resources; ++r) sums[r] = Amounts{};
  for (std::int32_t leaf = begin; leaf < end; leaf += kLanes) {
    Amounts open = Selected(request.matches, leaf, end);  // until some resource rules the leaf out
    for (std::size_t r = 0; r < resources; ++r) {
      const BulkRequest::Entry& entry = request.workers.data()[r];
      const Doubles free = ToDoubles(Load(entry.column + leaf));
      const Amounts out = (free < static_cast<double>(entry.request)) & open;
      open &= ~out;
      sums[r] -= out;
    }
  }
  for (std::size_t r = 0; r < resources; ++r) {
    for (std::int32_t i = 0; i < kLanes; ++i) {
      limited_by[r] += static_cast<std::int32_t>(sums[r][i]);
    }
  }
}

}  // namespace
}  // namespace espalier
