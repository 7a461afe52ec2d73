// Counting leaves in bulk, without dividing: floor is monotone, so min_r floor(free_r / request_r)
// is floor(min_r free_r * (1 / request_r)) with reciprocals a hair too large. Exact while
// capacities and requests stay below 2^51 (kExactLimit); the plain form in kernels/ covers the
// rest.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/views.hpp"

namespace espalier {

inline constexpr Amount kExactLimit = Amount{1} << 51;

// Columns must be readable this many leaves past their end.
inline constexpr std::int32_t kBulkReadAhead = 8;

// A vector of more resources is counted the plain way.
inline constexpr std::size_t kMaxBulkResources = 32;

// One request vector against capacity columns.
struct BulkRequest {
  struct Entry {
    const Amount* column = nullptr;  // by leaf
    Amount request = 0;              // > 0
    double inverse = 0;              // a little more than 1 / request
    double leader = 0;               // what a leader takes of it
  };
  std::vector<Entry> workers;              // at least one
  std::vector<Entry> leader;               // empty: no leader; only column and request are used
  const std::uint64_t* matches = nullptr;  // bitmap over leaves; null: every leaf
};

// 1 / request, rounded so that multiplying a multiple of the request never falls short.
double BulkInverse(Amount request);

struct BulkCounts {
  // Counts leaves [begin, end) into arrays indexed by leaf. The last two are written only with a
  // leader.
  void (*count)(const BulkRequest& request, std::int32_t begin, std::int32_t end, StoredCount* pods,
                StoredCount* pods_with_leader, std::uint8_t* leaders);
  // Adds to limited_by[i] the matching leaves of [begin, end) whose first worker resource without
  // room for one pod is i (R5.10).
  void (*limit)(const BulkRequest& request, std::int32_t begin, std::int32_t end,
                std::int32_t* limited_by);
  std::string_view name;  // avx512, avx2 or plain
};

// The compiled forms this processor can run, best first; all give the same counts.
std::vector<BulkCounts> SupportedBulkCounts();

// The form in use: the best supported one, or the one ESPALIER_SIMD names. An unknown or
// unsupported name there ends the program with a message: it is an operator's explicit wish.
const BulkCounts& ActiveBulkCounts();

}  // namespace espalier
