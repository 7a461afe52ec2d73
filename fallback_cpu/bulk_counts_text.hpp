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

// What the leaves of one part of some tiles hold, for workers alone or beside one leader.
template <std::int32_t kTiles, bool kBesideLeader>
inline void Fit(const BulkRequest::Vector& workers, const TileView* tiles, std::int32_t part,
                Integers* counts) {
  const std::int32_t lane = part * kLanes;
  Floats least[kTiles];
  for (std::int32_t i = 0; i < kTiles; ++i) least[i] = Floats{} + kMostFloat;
  for (const BulkRequest::Narrow& entry : workers.narrow) {
    for (std::int32_t i = 0; i < kTiles; ++i) {
      Floats free = Load<Floats>(tiles[i].rows + entry.row + lane);
      if (kBesideLeader) free -= entry.leader;
      least[i] = Smaller(free * entry.inverse, least[i]);
    }
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
  Fit<1, kBesideLeader>(workers, &tile, part, &counts);
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

// Bit i is set where units[i] < needs[i].
inline std::uint32_t BelowBits(const float* units, Floats needs) {
#if ESPALIER_LANES == 16
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(units), needs, _CMP_LT_OQ);
#else
  return BitsOf(reinterpret_cast<Integers>(Load<Floats>(units) < needs));
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

// Whether some leaf of a tile has room for one pod, as far as `narrow` says.
class RoomCheck {
 public:
  explicit RoomCheck(const BulkRequest& request)
      : most_(request.most), needs_(request.needs.data()), width_(request.needs.size()) {}

  bool operator()(std::int32_t tile) const {
    const float* most = most_ + static_cast<std::size_t>(tile) * width_;
    std::uint32_t below = 0;
    for (std::size_t c = 0; c < width_; c += kLanes) {
      below |= BelowBits(most + c, Load<Floats>(needs_ + c));
    }
    return below == 0;
  }

  void Prefetch(std::int32_t tile) const {
    __builtin_prefetch(most_ + static_cast<std::size_t>(tile) * width_);
  }

 private:
  const float* most_;
  const float* needs_;
  std::size_t width_;
};

// Pods by lane of leaves [begin, end).
inline Unsigned SumLeaves(const BulkRequest& request, std::int32_t begin, std::int32_t end) {
  Unsigned sums = {};
  const RoomCheck has_room(request);
  for (std::int32_t t = begin / kTile; t * kTile < end; ++t) {
    if (!has_room(t)) continue;
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
inline void SumTogether(const BulkRequest& request, const std::int32_t* tiles, Unsigned* sums) {
  TileView views[kTogether];
  for (std::int32_t i = 0; i < kTogether; ++i) views[i] = TileOf(request, tiles[i]);
  for (std::int32_t part = 0; part < kParts; ++part) {
    Integers counts[kTogether];
    Fit<kTogether, false>(request.workers, views, part, counts);
    for (std::int32_t i = 0; i < kTogether; ++i) {
      if (request.matches != nullptr) counts[i] &= LanesOf(Matching(request, tiles[i]), part);
      const auto pods = reinterpret_cast<Unsigned>(counts[i]);
      sums[i] = part == 0 ? pods : sums[i] + pods;
    }
  }
}

// Whole tiles on their way to their sums, a vector of them at a time.
class TileSums {
 public:
  TileSums(const BulkRequest& request, StoredCount* sums) : request_(request), sums_(sums) {}

  // sums[i] = pods of the tile, once flushed. Without a branch: nobody can foresee which have room.
  void AddIf(bool room, std::int32_t tile, std::int32_t i) {
    sums_[i] = 0;
    tiles_[size_] = tile;
    position_[size_] = i;
    size_ += room ? 1 : 0;
    if (size_ == kLanes) Flush();
  }

  void Flush() {
    if (size_ == 0) return;
    std::fill(tiles_ + size_, tiles_ + kLanes, tiles_[0]);
    Unsigned lanes[kLanes] = {};
    for (std::int32_t i = 0; i < size_; i += kTogether) {
      SumTogether(request_, tiles_ + i, lanes + i);
    }
    FoldLanes<kLanes / 2>(lanes);
    for (std::int32_t i = 0; i < size_; ++i) {
      sums_[position_[i]] = static_cast<StoredCount>(lanes[0][i]);
    }
    size_ = 0;
  }

 private:
  static_assert(kLanes % kTogether == 0);
  const BulkRequest& request_;
  StoredCount* sums_;
  std::int32_t tiles_[kLanes];
  std::int32_t position_[kLanes];
  std::int32_t size_ = 0;
};

void SumBlocksInBulk(const BulkRequest& request, const BlockLayout& layout,
                     const std::int32_t* blocks, std::int32_t count, StoredCount* sums) {
  if (layout.tiles) {
    constexpr std::int32_t kAhead = 16;
    const RoomCheck has_room(request);
    TileSums pending(request, sums);
    for (std::int32_t i = 0; i < count; ++i) {
      if (i + kAhead < count) has_room.Prefetch(blocks[i + kAhead]);
      pending.AddIf(has_room(blocks[i]), blocks[i], i);
    }
    pending.Flush();
    return;
  }
  for (std::int32_t first = 0; first < count; first += kLanes) {
    const std::int32_t size = std::min(kLanes, count - first);
    Unsigned lanes[kLanes];
    for (std::int32_t i = 0; i < kLanes; ++i) {
      const std::int32_t block = i < size ? blocks[first + i] : -1;
      lanes[i] = block < 0 ? Unsigned{}
                           : SumLeaves(request, layout.leaf_begin[block] - layout.first_leaf,
                                       layout.leaf_begin[block + 1] - layout.first_leaf);
    }
    FoldLanes<kLanes / 2>(lanes);
    std::memcpy(sums + first, lanes, static_cast<std::size_t>(size) * sizeof(StoredCount));
  }
}

// Those of the `open` leaves of a part of a tile, as bitmaps, on which one pod of the entry fits.
inline std::uint32_t OpenAndFit(const BulkRequest::Vector& vector, std::int32_t entry,
                                const TileView& tile, std::int32_t part, std::uint32_t open) {
#if ESPALIER_LANES == 16
  if (entry >= 0) {
    const BulkRequest::Narrow& narrow = vector.narrow[static_cast<std::size_t>(entry)];
    return _mm512_mask_cmp_ps_mask(static_cast<__mmask16>(open),
                                   _mm512_load_ps(tile.rows + narrow.row),
                                   _mm512_set1_ps(narrow.request), _CMP_GE_OQ);
  }
#endif
  return open & BitsOf(EntryFits(vector, entry, tile, part));
}

// Sums of the fields of row words: every other field apart, so that some can be added before one
// overflows.
class FieldSums {
 public:
  static constexpr std::int32_t kMostAdded = 63;  // of fields up to 16

  void Add(std::uint64_t fields) {
    even_ += fields & kEven;
    odd_ += (fields >> 5) & kEven;
  }
  std::int64_t operator[](std::int32_t i) const {
    return static_cast<std::int64_t>((i % 2 == 0 ? even_ : odd_) >> (i / 2 * 10) & 0x3FFU);
  }

 private:
  static constexpr std::uint64_t kEven = 0x07C1F07C1F07C1FU;
  std::uint64_t even_ = 0;
  std::uint64_t odd_ = 0;
};

// Tiles whose leaves are ruled out together.
struct OpenTiles {
  TileView views[kTogether];
  std::uint32_t open[kParts][kTogether];  // leaves that no resource has ruled out yet

  OpenTiles(const BulkRequest& request, const std::int32_t* tiles, std::int32_t size) {
    for (std::int32_t i = 0; i < kTogether; ++i) {
      const std::int32_t tile = tiles[std::min(i, size - 1)];
      views[i] = TileOf(request, tile);
      const std::uint32_t leaves =
          Matching(request, tile) & WithinRange(tile, 0, request.leaf_count);
      for (std::int32_t part = 0; part < kParts; ++part) {
        open[part][i] = leaves >> (part * kLanes) & ((1U << kLanes) - 1);
      }
    }
  }

  // Adds what the resources of entries [begin, end) rule out of each tile to its fields.
  void RuleOut(const BulkRequest::Vector& workers, std::int32_t begin, std::int32_t end,
               std::uint64_t* fields) {
    for (std::int32_t part = 0; part < kParts; ++part) {
      std::uint32_t left[kTogether];
      for (std::int32_t i = 0; i < kTogether; ++i) left[i] = open[part][i];
      for (std::int32_t e = begin; e < end; ++e) {
        const auto at = static_cast<std::size_t>(e);
        const std::int32_t entry = workers.order[at];
        const std::int32_t shift = workers.field_shift[at];
        for (std::int32_t i = 0; i < kTogether; ++i) {
          const std::uint32_t fit = OpenAndFit(workers, entry, views[i], part, left[i]);
          const int ruled_out = __builtin_popcount(left[i]) - __builtin_popcount(fit);
          fields[i] += static_cast<std::uint64_t>(ruled_out) << shift;
          left[i] = fit;
        }
      }
      for (std::int32_t i = 0; i < kTogether; ++i) open[part][i] = left[i];
    }
  }
};

void LimitInBulk(const BulkRequest& request, const std::int32_t* tiles, std::int32_t count,
                 const LimitTable& limited) {
  constexpr std::int32_t kAhead = 16;
  static_assert(FieldSums::kMostAdded > kTogether);
  constexpr std::int32_t kRun = FieldSums::kMostAdded / kTogether * kTogether;
  const BulkRequest::Vector& workers = request.workers;
  const auto row_of = [&](std::int32_t tile) {
    return limited.rows + static_cast<std::ptrdiff_t>(tile) * limited.words;
  };
  for (std::int32_t i = 0; i < std::min(kAhead, count); ++i) __builtin_prefetch(row_of(tiles[i]));
  for (std::int32_t first = 0; first < count; first += kRun) {
    const std::int32_t end = std::min(count, first + kRun);
    FieldSums gained[LimitTable::kMaxWords];
    FieldSums lost[LimitTable::kMaxWords];
    for (std::int32_t t = first; t < end; t += kTogether) {
      const std::int32_t size = std::min(kTogether, end - t);
      for (std::int32_t i = t + kAhead; i < std::min(t + kAhead + kTogether, count); ++i) {
        __builtin_prefetch(row_of(tiles[i]));
      }
      OpenTiles open(request, tiles + t, size);
      for (std::int32_t word = 0; word < limited.words; ++word) {
        const auto at = static_cast<std::size_t>(word);
        std::uint64_t fields[kTogether] = {};
        open.RuleOut(workers, workers.word_begin[at], workers.word_begin[at + 1], fields);
        for (std::int32_t i = 0; i < size; ++i) {
          std::uint64_t& row = row_of(tiles[t + i])[word];
          if (!limited.blank) lost[word].Add(row);
          gained[word].Add(fields[i]);
          row = fields[i];
        }
      }
    }
    for (std::int32_t i = 0; i < limited.words * LimitTable::kPerWord; ++i) {
      const std::int32_t word = i / LimitTable::kPerWord;
      const std::int32_t field = i % LimitTable::kPerWord;
      limited.sums[i] += gained[word][field] - lost[word][field];
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
    // Before the mask may go to memory: GCC 12 writes two bytes of it and counts four.
    const std::int32_t found = __builtin_popcount(wanted);
    const __m512i ids =
        _mm512_add_epi32(_mm512_set1_epi32(block),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    _mm512_storeu_si512(blocks + count, _mm512_maskz_compress_epi32(wanted, ids));
    count += found;
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

// The smallest of `size` entries whose value in `keys` is at least `low` and at most `high`, or
// 2^31 - 1.
inline StoredCount LeastWhere(const StoredCount* keys, StoredCount low, StoredCount high,
                              const StoredCount* entries, std::int32_t size) {
  constexpr StoredCount kNone = 2147483647;
  const Integers none = Integers{} + kNone;
  Integers least = none;
  std::int32_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const Integers key = Load<Integers>(keys + i);
    const Integers wanted = (key >= low) & (key <= high);
    least = Smaller(wanted ? Load<Integers>(entries + i) : none, least);
  }
  StoredCount smallest = kNone;
  for (std::int32_t lane = 0; lane < kLanes; ++lane) smallest = std::min(smallest, least[lane]);
  for (; i < size; ++i) {
    if (keys[i] >= low && keys[i] <= high) smallest = std::min(smallest, entries[i]);
  }
  return smallest;
}

std::int32_t FindTightest(const StoredCount* values, const StoredCount* ties, std::int32_t size,
                          StoredCount need) {
  constexpr StoredCount kMost = 2147483647;
  const StoredCount value = LeastWhere(values, need, kMost, values, size);
  if (value < need) return -1;
  if (ties == nullptr) ties = values;
  const StoredCount tie = ties == values ? value : LeastWhere(values, value, value, ties, size);
  constexpr std::int32_t kStride = 8 * kLanes;
  std::int32_t i = 0;
  for (; i + kStride <= size; i += kStride) {
    Integers equal = {};
    for (std::int32_t j = i; j < i + kStride; j += kLanes) {
      equal |= (Load<Integers>(values + j) == value) & (Load<Integers>(ties + j) == tie);
    }
    if (BitsOf(equal) != 0) break;
  }
  while (i < size && (values[i] != value || ties[i] != tie)) ++i;
  return i < size ? i : -1;
}

constexpr BulkCounts FormNamed(std::string_view name) {
  return {CountLeavesInBulk, SumBlocksInBulk, LimitInBulk, FindChanged, FindTightest, name};
}

}  // namespace
}  // namespace espalier
