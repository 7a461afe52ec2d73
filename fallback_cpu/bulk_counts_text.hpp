// The text of bulk counting, compiled once per instruction set on the compilers' vector extension:
// ESPALIER_LANES is the number of floats in one vector register. Include only from
// bulk_counts_<set>.cpp; everything has internal linkage so that no code for one set leaks into
// another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#if ESPALIER_LANES > 4
#include <immintrin.h>
#endif

#include "fallback_cpu/bulk_counts.hpp"

namespace espalier {
namespace {

constexpr std::int32_t kLanes = ESPALIER_LANES;
constexpr std::int32_t kTile = TiledCapacity::kTileLeaves;
constexpr std::int32_t kParts = kTile / kLanes;  // registers a tile takes

using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));
using Integers = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));
using Unsigned = std::uint32_t __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));
using Wides = std::uint64_t __attribute__((vector_size(kLanes * sizeof(std::uint64_t))));

constexpr float kMostFloat = 2147483520.0F;  // the largest float below 2^31
constexpr double kMostDouble = 2147483647.0;

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

// Amounts as doubles: exact for |x| < 2^51, the bits of 1.5 * 2^52 + x read as a double. A read
// past a column's end may meet any value: the sum wraps.
inline Doubles LoadAmounts(const Amount* amounts) {
  const Wides biased = Load<Wides>(amounts) + 0x4338000000000000U;
  Doubles read;
  std::memcpy(&read, &biased, sizeof(read));
  return read - 6755399441055744.0;
}

// The leaves of a tile as a bitmap that may be written: those within [begin, end).
inline std::uint32_t WithinRange(std::int32_t tile, std::int32_t begin, std::int32_t end) {
  const std::int32_t first = tile * kTile;
  std::uint32_t bits = 0xFFFFU;
  if (begin > first) bits &= 0xFFFFU << (begin - first);
  if (end < first + kTile) bits &= 0xFFFFU >> (first + kTile - end);
  return bits;
}

inline std::uint32_t Matching(const BulkRequest& request, std::int32_t tile) {
  if (request.matches == nullptr) return 0xFFFFU;
  return static_cast<std::uint32_t>(request.matches[tile >> 2] >> ((tile & 3) * kTile)) & 0xFFFFU;
}

// All ones in the lanes of a part whose bit is set.
inline Integers LanesOf(std::uint32_t bits, std::int32_t part) {
  Integers lane;
  for (std::int32_t i = 0; i < kLanes; ++i) lane[i] = i;
  const auto shifted = static_cast<std::int32_t>(bits >> (part * kLanes));
  return -(((Integers{} + shifted) >> lane) & 1);
}

// Where one tile's amounts lie.
struct TileView {
  const float* rows;
  std::int32_t first_leaf;
};

inline TileView TileOf(const BulkRequest& request, std::int32_t tile) {
  return {request.tiles + static_cast<std::size_t>(tile) * request.tile_stride, tile * kTile};
}

// What the leaves of one part of some tiles hold, for workers alone or beside one leader. Meanwhile
// the tiles `ahead`, when given, come closer.
template <std::int32_t kTiles, bool kBesideLeader>
inline void Fit(const BulkRequest::Vector& workers, const TileView* tiles, std::int32_t part,
                const TileView* ahead, Integers* counts) {
  const std::int32_t lane = part * kLanes;
  Floats least[kTiles];
  for (std::int32_t i = 0; i < kTiles; ++i) least[i] = Floats{} + kMostFloat;
  for (const BulkRequest::Narrow& entry : workers.narrow) {
    for (std::int32_t i = 0; i < kTiles; ++i) {
      Floats free = Load<Floats>(tiles[i].rows + entry.row + lane);
      if (kBesideLeader) free -= entry.leader;
      least[i] = Smaller(free * entry.inverse, least[i]);
    }
    if (ahead == nullptr) continue;
    for (std::int32_t i = 0; i < kTiles; ++i) __builtin_prefetch(ahead[i].rows + entry.row);
  }
  for (std::int32_t i = 0; i < kTiles; ++i) {
    counts[i] = __builtin_convertvector(NotNegative(least[i]), Integers);
  }
  if (workers.wide.empty()) return;
  for (std::int32_t i = 0; i < kTiles; ++i) {
    Doubles wide = Doubles{} + kMostDouble;
    for (const BulkRequest::Wide& entry : workers.wide) {
      Doubles free = LoadAmounts(entry.column + tiles[i].first_leaf + lane);
      if (kBesideLeader) free -= entry.leader;
      wide = Smaller(free * entry.inverse, wide);
    }
    const Integers wide_counts = __builtin_convertvector(NotNegative(wide), Integers);
    counts[i] = workers.narrow.empty() ? wide_counts : Smaller(counts[i], wide_counts);
  }
}

template <bool kBesideLeader>
inline Integers FitOneTile(const BulkRequest::Vector& workers, const TileView& tile,
                           std::int32_t part) {
  Integers counts;
  Fit<1, kBesideLeader>(workers, &tile, part, nullptr, &counts);
  return counts;
}

// All ones where one pod of entry `order[i]` fits.
inline Integers EntryFits(const BulkRequest::Vector& vector, std::int32_t entry,
                          const TileView& tile, std::int32_t part) {
  const std::int32_t lane = part * kLanes;
  if (entry >= 0) {
    const BulkRequest::Narrow& narrow = vector.narrow[static_cast<std::size_t>(entry)];
    return Load<Floats>(tile.rows + narrow.row + lane) >= narrow.request;
  }
  const BulkRequest::Wide& wide = vector.wide[static_cast<std::size_t>(~entry)];
  return __builtin_convertvector(LoadAmounts(wide.column + tile.first_leaf + lane) >= wide.request,
                                 Integers);
}

// Bit i is set where lane i is all ones.
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

template <class Item>
inline void Store(const Item* lanes, std::int32_t first, std::uint32_t bits, Item* out) {
  for (std::int32_t i = 0; i < kLanes; ++i) {
    if ((bits >> (first + i) & 1) != 0) out[i] = lanes[i];
  }
}

inline void StoreCounts(Integers counts, std::uint32_t writable, std::int32_t part,
                        StoredCount* out) {
  StoredCount* first = out + part * kLanes;
  if (writable == 0xFFFFU) {
    std::memcpy(first, &counts, sizeof(counts));
  } else {
    StoredCount lanes[kLanes];
    std::memcpy(lanes, &counts, sizeof(counts));
    Store(lanes, part * kLanes, writable, first);
  }
}

void CountLeavesInBulk(const BulkRequest& request, std::int32_t begin, std::int32_t end,
                       const LeafColumns& out) {
  const bool with_leader = !request.leader.order.empty();
  for (std::int32_t t = begin / kTile; t * kTile < end; ++t) {
    const TileView tile = TileOf(request, t);
    const std::uint32_t matching = Matching(request, t);
    const std::uint32_t writable = WithinRange(t, begin, end);
    for (std::int32_t part = 0; part < kParts; ++part) {
      const Integers selected = LanesOf(matching, part);
      const Integers counts = FitOneTile<false>(request.workers, tile, part) & selected;
      StoreCounts(counts, writable, part, out.pods + tile.first_leaf);
      if (!with_leader) continue;
      // A leaf that cannot host the leader keeps PW = P (R7.11).
      Integers fits = selected;
      for (const std::int32_t entry : request.leader.order) {
        fits &= EntryFits(request.leader, entry, tile, part);
      }
      const Integers beside = FitOneTile<true>(request.workers, tile, part);
      StoreCounts((fits & beside) | (~fits & counts), writable, part,
                  out.pods_with_leader + tile.first_leaf);
      const std::uint32_t fit_bits = BitsOf(fits);
      std::uint8_t led[kLanes];
      for (std::int32_t i = 0; i < kLanes; ++i) led[i] = fit_bits >> i & 1;
      Store(led, part * kLanes, writable, out.leaders + tile.first_leaf + part * kLanes);
    }
  }
}

// Adds the halves of every group of 2 * kWidth lanes, of a and then of b, to a group of kWidth.
template <std::int32_t kWidth, std::int32_t... kLane>
inline Unsigned AddHalves(Unsigned a, Unsigned b, std::integer_sequence<std::int32_t, kLane...>) {
  return __builtin_shufflevector(a, b, (kLane / kWidth * 2 * kWidth + kLane % kWidth)...) +
         __builtin_shufflevector(a, b, (kLane / kWidth * 2 * kWidth + kLane % kWidth + kWidth)...);
}

// Leaves in vectors[0] the sums over the lanes of each vector. kPairs = kLanes / 2 to begin with.
template <std::int32_t kPairs>
inline void FoldLanes(Unsigned* vectors) {
  for (std::int32_t i = 0; i < kPairs; ++i) {
    vectors[i] = AddHalves<kPairs>(vectors[2 * i], vectors[2 * i + 1],
                                   std::make_integer_sequence<std::int32_t, kLanes>());
  }
  if constexpr (kPairs > 1) FoldLanes<kPairs / 2>(vectors);
}

// Pods by lane of leaves [begin, end).
inline Unsigned SumLeaves(const BulkRequest& request, std::int32_t begin, std::int32_t end) {
  Unsigned sums = {};
  for (std::int32_t t = begin / kTile; t * kTile < end; ++t) {
    const std::uint32_t within = WithinRange(t, begin, end);
    const TileView tile = TileOf(request, t);
    const std::uint32_t selected = Matching(request, t) & within;
    for (std::int32_t part = 0; part < kParts; ++part) {
      Integers counts = FitOneTile<false>(request.workers, tile, part);
      if (selected != 0xFFFFU) counts &= LanesOf(selected, part);
      sums += reinterpret_cast<Unsigned>(counts);
    }
  }
  return sums;
}

// Tiles whose loads and reciprocals are in flight together.
constexpr std::int32_t kTogether = 4;

// Pods by lane of whole tiles, the parts of each added up.
inline void SumWholeTiles(const BulkRequest& request, const std::int32_t* tiles,
                          const std::int32_t* ahead, Unsigned* sums) {
  TileView views[kTogether];
  TileView next[kTogether];
  for (std::int32_t i = 0; i < kTogether; ++i) {
    views[i] = TileOf(request, tiles[i]);
    if (ahead != nullptr) next[i] = TileOf(request, ahead[i]);
  }
  for (std::int32_t part = 0; part < kParts; ++part) {
    Integers counts[kTogether];
    Fit<kTogether, false>(request.workers, views, part,
                          part == 0 && ahead != nullptr ? next : nullptr, counts);
    for (std::int32_t i = 0; i < kTogether; ++i) {
      if (request.matches != nullptr) counts[i] &= LanesOf(Matching(request, tiles[i]), part);
      const auto pods = reinterpret_cast<Unsigned>(counts[i]);
      sums[i] = part == 0 ? pods : sums[i] + pods;
    }
  }
}

void SumBlocksInBulk(const BulkRequest& request, const BlockLayout& layout,
                     const std::int32_t* blocks, std::int32_t count, StoredCount* sums) {
  constexpr std::int32_t kAhead = 2 * kTogether;
  for (std::int32_t first = 0; first < count; first += kLanes) {
    const std::int32_t size = std::min(kLanes, count - first);
    Unsigned lanes[kLanes];
    std::int32_t i = 0;
    for (; layout.tiles && i + kTogether <= size; i += kTogether) {
      const std::int32_t* tiles = blocks + first + i;
      SumWholeTiles(request, tiles,
                    first + i + kAhead + kTogether <= count ? tiles + kAhead : nullptr, lanes + i);
    }
    for (; i < kLanes; ++i) {
      const std::int32_t block = i < size ? blocks[first + i] : -1;
      lanes[i] = block < 0 ? Unsigned{}
                           : SumLeaves(request, layout.leaf_begin[block] - layout.first_leaf,
                                       layout.leaf_begin[block + 1] - layout.first_leaf);
    }
    FoldLanes<kLanes / 2>(lanes);
    std::memcpy(sums + first, lanes, static_cast<std::size_t>(size) * sizeof(StoredCount));
  }
}

// The leaves of a part of a tile, as a bitmap, on which one pod of the entry fits.
inline std::uint32_t EntryFitBits(const BulkRequest::Vector& vector, std::int32_t entry,
                                  const TileView& tile, std::int32_t part) {
#if ESPALIER_LANES == 16
  if (entry >= 0) {
    const BulkRequest::Narrow& narrow = vector.narrow[static_cast<std::size_t>(entry)];
    return _mm512_cmp_ps_mask(_mm512_load_ps(tile.rows + narrow.row),
                              _mm512_set1_ps(narrow.request), _CMP_GE_OQ);
  }
#endif
  return BitsOf(EntryFits(vector, entry, tile, part));
}

// Sums of bytes: every other byte apart, so that many can be added before one overflows.
class ByteSums {
 public:
  static constexpr std::int32_t kMostAdded = 4095;  // of bytes up to 16

  void Add(std::uint64_t bytes) {
    even_ += bytes & kEven;
    odd_ += (bytes >> 8) & kEven;
  }
  std::int64_t operator[](std::int32_t i) const {
    return static_cast<std::int64_t>((i % 2 == 0 ? even_ : odd_) >> (i / 2 * 16) & 0xFFFFU);
  }

 private:
  static constexpr std::uint64_t kEven = 0x00FF00FF00FF00FFU;
  std::uint64_t even_ = 0;
  std::uint64_t odd_ = 0;
};

// What of a tile's leaves each resource rules out, a byte each.
inline void LimitTile(const BulkRequest& request, std::int32_t t, std::uint64_t* row) {
  const BulkRequest::Vector& workers = request.workers;
  const TileView tile = TileOf(request, t);
  const std::uint32_t selected = Matching(request, t) & WithinRange(t, 0, request.leaf_count);
  for (std::int32_t part = 0; part < kParts; ++part) {
    // Leaves that no resource has ruled out yet.
    std::uint32_t open = selected >> (part * kLanes) & ((1U << kLanes) - 1);
    for (std::size_t i = 0; i < workers.order.size() && open != 0; ++i) {
      const std::uint32_t fits = EntryFitBits(workers, workers.order[i], tile, part);
      const std::int32_t resource = workers.resource[i];
      row[resource / 8] += static_cast<std::uint64_t>(__builtin_popcount(open & ~fits))
                           << (resource % 8 * 8);
      open &= fits;
    }
  }
}

void LimitInBulk(const BulkRequest& request, const std::int32_t* tiles, std::int32_t count,
                 const LimitTable& limited) {
  constexpr std::int32_t kAhead = 6;
  for (std::int32_t first = 0; first < count; first += ByteSums::kMostAdded) {
    const std::int32_t end = std::min(count, first + ByteSums::kMostAdded);
    ByteSums gained[LimitTable::kMaxWords];
    ByteSums lost[LimitTable::kMaxWords];
    for (std::int32_t i = first; i < end; ++i) {
      if (i + kAhead < count) {
        const std::int32_t next = tiles[i + kAhead];
        __builtin_prefetch(limited.rows + static_cast<std::ptrdiff_t>(next) * limited.words);
        const float* rows = TileOf(request, next).rows;
        for (const BulkRequest::Narrow& entry : request.workers.narrow) {
          __builtin_prefetch(rows + entry.row);
        }
      }
      std::uint64_t fresh[LimitTable::kMaxWords] = {};
      LimitTile(request, tiles[i], fresh);
      std::uint64_t* row = limited.rows + static_cast<std::ptrdiff_t>(tiles[i]) * limited.words;
      for (std::int32_t word = 0; word < limited.words; ++word) {
        gained[word].Add(fresh[word]);
        lost[word].Add(row[word]);
        row[word] = fresh[word];
      }
    }
    for (std::int32_t i = 0; i < limited.words * 8; ++i) {
      limited.sums[i] += gained[i / 8][i % 8] - lost[i / 8][i % 8];
    }
  }
}

std::int32_t FindChanged(const std::int32_t* last_changes, const StoredCount* pods,
                         std::int32_t size, std::int32_t position, std::int32_t* blocks) {
  std::int32_t count = 0;
  std::int32_t block = 0;
  for (; block + kLanes <= size; block += kLanes) {
#if ESPALIER_LANES == 16
    __mmask16 wanted = _mm512_cmpge_epi32_mask(_mm512_loadu_si512(last_changes + block),
                                               _mm512_set1_epi32(position));
    if (pods != nullptr) {
      wanted = _mm512_mask_cmpgt_epi32_mask(wanted, _mm512_loadu_si512(pods + block),
                                            _mm512_setzero_si512());
    }
    const __m512i ids =
        _mm512_add_epi32(_mm512_set1_epi32(block),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    _mm512_storeu_si512(blocks + count, _mm512_maskz_compress_epi32(wanted, ids));
    count += __builtin_popcount(wanted);
#else
    Integers wanted = Load<Integers>(last_changes + block) >= position;
    if (pods != nullptr) wanted &= Load<Integers>(pods + block) > 0;
    for (std::uint32_t bits = BitsOf(wanted); bits != 0; bits &= bits - 1) {
      blocks[count++] = block + __builtin_ctz(bits);
    }
#endif
  }
  for (; block < size; ++block) {
    if (last_changes[block] >= position && (pods == nullptr || pods[block] > 0)) {
      blocks[count++] = block;
    }
  }
  return count;
}

std::int32_t FindTightest(const StoredCount* values, std::int32_t size, StoredCount need) {
  constexpr StoredCount kNone = 2147483647;
  const Integers none = Integers{} + kNone;
  Integers least = none;
  std::int32_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const Integers value = Load<Integers>(values + i);
    least = Smaller(value >= need ? value : none, least);
  }
  StoredCount smallest = kNone;
  for (std::int32_t lane = 0; lane < kLanes; ++lane) smallest = std::min(smallest, least[lane]);
  for (; i < size; ++i) {
    if (values[i] >= need) smallest = std::min(smallest, values[i]);
  }
  if (smallest < need) return -1;
  constexpr std::int32_t kStride = 8 * kLanes;
  for (i = 0; i + kStride <= size; i += kStride) {
    Integers equal = {};
    for (std::int32_t j = 0; j < kStride; j += kLanes) {
      equal |= Load<Integers>(values + i + j) == smallest;
    }
    if (BitsOf(equal) != 0) break;
  }
  const StoredCount* found = std::find(values + i, values + size, smallest);
  return found == values + size ? -1 : static_cast<std::int32_t>(found - values);
}

constexpr BulkCounts FormNamed(std::string_view name) {
  return {CountLeavesInBulk, SumBlocksInBulk, LimitInBulk, FindChanged, FindTightest, name};
}

}  // namespace
}  // namespace espalier
