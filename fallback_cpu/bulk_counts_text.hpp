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

// Bit i is set where units[i] < need.
inline std::uint32_t BelowBits(const float* units, float need) {
#if ESPALIER_LANES == 16
  return _mm512_cmp_ps_mask(_mm512_loadu_ps(units), _mm512_set1_ps(need), _CMP_LT_OQ);
#else
  return BitsOf(reinterpret_cast<Integers>(Load<Floats>(units) < Floats{} + need));
#endif
}

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
#else
  for (; bits != 0; bits &= bits - 1) *out++ = first + __builtin_ctz(bits);
#endif
  return count;
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

// Which tiles have a leaf with room for one pod, as far as `narrow` says. Looks at nothing that no
// tile lacks.
class RoomCheck {
 public:
  explicit RoomCheck(const BulkRequest& request)
      : most_(request.most), stride_(request.tile_stride) {
    if (most_ == nullptr) return;
    for (const BulkRequest::Narrow& entry : request.workers.narrow) {
      if (entry.request > request.least_most[entry.row / kTile]) {
        needs_[size_++] = {entry.row, entry.request};
      }
    }
  }

  // Of the 16 tiles of a group.
  std::uint32_t operator()(std::int32_t group) const {
    if (size_ == 0) return 0xFFFFU;
    const float* most = most_ + static_cast<std::size_t>(group) * stride_;
    std::uint32_t below = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::int32_t part = 0; part < kParts; ++part) {
        below |= BelowBits(most + needs_[i].row + part * kLanes, needs_[i].request)
                 << (part * kLanes);
      }
    }
    return ~below & 0xFFFFU;
  }

 private:
  struct Need {
    std::int32_t row;
    float request;
  };

  const float* most_;
  std::size_t stride_;
  Need needs_[kMaxBulkResources];
  std::size_t size_ = 0;
};

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
inline void SumTogether(const BulkRequest& request, const std::int32_t* tiles, Unsigned* sums) {
  TileView views[kTogether];
  for (std::int32_t i = 0; i < kTogether; ++i) {
    views[i] = TileOf(request, tiles[i]);
    sums[i] = Unsigned{};
  }
  for (std::int32_t part = 0; part < kParts; ++part) {
    Integers counts[kTogether];
    Fit<kTogether, false>(request.workers, views, part, counts);
    for (std::int32_t i = 0; i < kTogether; ++i) {
      if (request.matches != nullptr) counts[i] &= LanesOf(Matching(request, tiles[i]), part);
      sums[i] += reinterpret_cast<Unsigned>(counts[i]);
    }
  }
}

// Pods of kLanes whole tiles.
inline Unsigned SumTiles(const BulkRequest& request, const std::int32_t* tiles) {
  static_assert(kLanes % kTogether == 0);
  Unsigned lanes[kLanes];
  for (std::int32_t i = 0; i < kLanes; i += kTogether) SumTogether(request, tiles + i, lanes + i);
  FoldLanes<kLanes / 2>(lanes);
  return lanes[0];
}

// sums[i] = pods of tile `first` + i. Only tiles with room are counted, kLanes at a time.
void SumRun(const BulkRequest& request, std::int32_t first, std::int32_t count, StoredCount* sums) {
  std::fill_n(sums, count, 0);
  const RoomCheck room_in(request);
  std::int32_t tiles[kTile + 2 * kLanes];
  std::int32_t size = 0;
  const auto flush = [&] {
    const Unsigned pods = SumTiles(request, tiles);
    for (std::int32_t i = 0; i < std::min(size, kLanes); ++i) {
      sums[tiles[i] - first] = static_cast<StoredCount>(pods[i]);
    }
  };
  const std::int32_t end = first + count;
  for (std::int32_t group = first / kTile; group * kTile < end; ++group) {
    const std::uint32_t room = room_in(group) & WithinRange(group, first, end);
    for (std::int32_t lane = 0; lane < kTile; lane += kLanes) {
      size += WriteBits((room >> lane) & ((1U << kLanes) - 1), group * kTile + lane, tiles + size);
    }
    for (; size >= kLanes; size -= kLanes) {
      flush();
      std::copy(tiles + kLanes, tiles + size, tiles);
    }
  }
  if (size == 0) return;
  std::fill(tiles + size, tiles + kLanes, tiles[0]);
  flush();
}

void SumBlocksInBulk(const BulkRequest& request, const BlockLayout& layout, const Blocks& blocks,
                     StoredCount* sums) {
  if (layout.tiles && blocks.ids == nullptr) {
    return SumRun(request, blocks.first, blocks.count, sums);
  }
  for (std::int32_t first = 0; first < blocks.count; first += kLanes) {
    const std::int32_t size = std::min(kLanes, blocks.count - first);
    std::int32_t ids[kLanes];
    for (std::int32_t i = 0; i < kLanes; ++i) ids[i] = blocks[first + std::min(i, size - 1)];
    Unsigned pods;
    if (layout.tiles) {
      pods = SumTiles(request, ids);
    } else {
      Unsigned lanes[kLanes] = {};
      for (std::int32_t i = 0; i < size; ++i) {
        lanes[i] = SumLeaves(request, layout.leaf_begin[ids[i]] - layout.first_leaf,
                             layout.leaf_begin[ids[i] + 1] - layout.first_leaf);
      }
      FoldLanes<kLanes / 2>(lanes);
      pods = lanes[0];
    }
    std::memcpy(sums + first, &pods, static_cast<std::size_t>(size) * sizeof(StoredCount));
  }
}

using LaneBytes = std::uint8_t __attribute__((vector_size(kLanes)));

// Writes what limits each leaf of kTogether tiles.
inline void LimitTogether(const BulkRequest& request, const std::int32_t* tiles,
                          const LeafLimits& limits, std::uint8_t* out) {
  const BulkRequest::Vector& workers = request.workers;
  const Integers none = Integers{} + limits.None();
  TileView views[kTogether];
  for (std::int32_t i = 0; i < kTogether; ++i) views[i] = TileOf(request, tiles[i]);
  for (std::int32_t part = 0; part < kParts; ++part) {
    Integers limit[kTogether];
    for (Integers& lanes : limit) lanes = none;
    const auto rule_out = [&](const BulkRequest::Narrow& entry, std::int32_t resource) {
      for (std::int32_t i = 0; i < kTogether; ++i) {
        const auto free = Load<Floats>(views[i].rows + entry.row + part * kLanes);
        limit[i] = free < Floats{} + entry.request ? Integers{} + resource : limit[i];
      }
    };
    // The first one is written last.
    if (workers.wide.empty()) {
      for (std::size_t e = workers.narrow.size(); e-- > 0;) {
        rule_out(workers.narrow[e], workers.resource[e]);
      }
    } else {
      for (std::size_t e = workers.order.size(); e-- > 0;) {
        const std::int32_t entry = workers.order[e];
        const std::int32_t resource = workers.resource[e];
        if (entry >= 0) {
          rule_out(workers.narrow[static_cast<std::size_t>(entry)], resource);
          continue;
        }
        for (std::int32_t i = 0; i < kTogether; ++i) {
          limit[i] = EntryFits(workers, entry, views[i], part) ? limit[i] : Integers{} + resource;
        }
      }
    }
    for (std::int32_t i = 0; i < kTogether; ++i) {
      const std::uint32_t leaves =
          Matching(request, tiles[i]) & WithinRange(tiles[i], 0, request.leaf_count);
      if (leaves != 0xFFFFU) limit[i] = LanesOf(leaves, part) ? limit[i] : none;
      const LaneBytes bytes = __builtin_convertvector(limit[i], LaneBytes);
      std::memcpy(out + i * kTile + part * kLanes, &bytes, sizeof(bytes));
    }
  }
}

// Adds to `sums` how many of some bytes have each value but None. At most 255 chunks.
constexpr std::int32_t kChunk = kTogether * kTile;
inline void AddUp(const std::uint8_t* bytes, std::int32_t chunks, const LeafLimits& limits) {
  using ChunkBytes = std::uint8_t __attribute__((vector_size(kChunk)));
  for (std::int32_t value = 0; value < limits.None(); ++value) {
    ChunkBytes found = {};
    for (std::int32_t c = 0; c < chunks; ++c) {
      const auto equal = Load<ChunkBytes>(bytes + c * kChunk) == static_cast<std::uint8_t>(value);
      found -= reinterpret_cast<ChunkBytes>(equal);
    }
    std::uint8_t lanes[kChunk];
    std::memcpy(lanes, &found, sizeof(lanes));
    std::int32_t sum = 0;
    for (const std::uint8_t lane : lanes) sum += lane;
    limits.sums[value] += sum;
  }
}

// Which tiles the first resource rules out as a whole, as far as can be seen without their rows.
class FirstResource {
 public:
  explicit FirstResource(const BulkRequest& request) {
    const BulkRequest::Vector& workers = request.workers;
    if (request.most == nullptr || request.matches != nullptr || workers.order.front() < 0) return;
    const BulkRequest::Narrow& first = workers.narrow[static_cast<std::size_t>(workers.order[0])];
    most_ = request.most + first.row;
    need_ = first.request;
    stride_ = request.tile_stride;
    whole_tiles_ = request.leaf_count / kTile;
  }

  bool LimitsAll(std::int32_t tile) const {
    const auto at = static_cast<std::uint32_t>(tile);
    return tile < whole_tiles_ && most_[at / kTile * stride_ + at % kTile] < need_;
  }

 private:
  const float* most_ = nullptr;
  float need_ = 0;
  std::size_t stride_ = 0;
  std::int32_t whole_tiles_ = 0;
};

void LimitInBulk(const BulkRequest& request, const Blocks& tiles, const LeafLimits& limits) {
  constexpr std::int32_t kAhead = 16;
  constexpr std::int32_t kRun = 64;  // tiles
  static_assert(kRun % kTogether == 0);
  const auto before = [&](std::int32_t tile) {
    return limits.of_leaf + static_cast<std::ptrdiff_t>(tile) * kTile;
  };
  const auto set = [&](std::int32_t tile, const std::uint8_t* now) {
    if (limits.blank) {
      std::memcpy(before(tile), now, kTile);
    } else if (std::memcmp(before(tile), now, kTile) != 0) {
      limits.Set(tile, now);
    }
  };
  const FirstResource first(request);
  const std::int32_t first_resource = request.workers.resource.front();
  alignas(kTile) std::uint8_t all_first[kTile];
  std::fill_n(all_first, kTile, static_cast<std::uint8_t>(first_resource));
  std::int32_t next = 0;
  while (next < tiles.count) {
    std::int32_t run[kRun];
    std::int32_t size = 0;
    for (; next < tiles.count && size < kRun; ++next) {
      const std::int32_t tile = tiles[next];
      if (!limits.blank) {
        __builtin_prefetch(before(tiles[std::min(next + kAhead, tiles.count - 1)]), 1);
      }
      if (!first.LimitsAll(tile)) {
        run[size++] = tile;
        continue;
      }
      if (limits.blank) limits.sums[first_resource] += kTile;
      if (limits.of_leaf != nullptr) set(tile, all_first);
    }
    const std::int32_t chunks = (size + kTogether - 1) / kTogether;
    std::fill(run + size, run + chunks * kTogether, run[0]);
    alignas(kChunk) std::uint8_t now[kRun * kTile];
    for (std::int32_t chunk = 0; chunk < chunks; ++chunk) {
      LimitTogether(request, run + chunk * kTogether, limits, now + chunk * kChunk);
    }
    if (limits.blank) {
      std::fill(now + size * kTile, now + chunks * kChunk,
                static_cast<std::uint8_t>(limits.None()));
      AddUp(now, chunks, limits);
    }
    if (limits.of_leaf == nullptr) continue;
    for (std::int32_t i = 0; i < size; ++i) set(run[i], now + i * kTile);
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
    const std::uint32_t bits = wanted;
#else
    Integers wanted = Load<Integers>(last_changes + block) >= position;
    if (pods != nullptr) wanted &= Load<Integers>(pods + block) > 0;
    const std::uint32_t bits = BitsOf(wanted);
#endif
    count += WriteBits(bits, block, blocks + count);
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
