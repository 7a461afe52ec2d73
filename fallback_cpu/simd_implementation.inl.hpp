// Implements bulk counting on the compilers' vector extension, compiled once per instruction set:
// ESPALIER_LANES is the number of floats in one vector register. Include only from
// simd_implementation_<set>.cpp; everything has internal linkage so that no code for one set leaks
// into another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "fallback_cpu/classes.inl.hpp"
#include "fallback_cpu/leaf_sums.inl.hpp"
#include "fallback_cpu/search.inl.hpp"
#include "fallback_cpu/simd_implementation.hpp"
#include "fallback_cpu/vector.inl.hpp"

namespace espalier {
namespace {

constexpr std::int32_t kTile = TiledCapacity::kTileLeaves;
constexpr std::int32_t kParts = kTile / kLanes;  // registers a tile takes

constexpr float kMostFloat = 2147483520.0F;  // the largest float below 2^31
constexpr double kMostDouble = 2147483647.0;

// Returns amounts as doubles, exact for |x| < 2^51: the bits of 1.5 * 2^52 + x read as a double.
// Entries past a column's end may have any value, so the sum wraps.
inline Doubles LoadAmounts(const Amount* amounts) {
  const Wides biased = Load<Wides>(amounts) + 0x4338000000000000U;
  Doubles read;
  std::memcpy(&read, &biased, sizeof(read));
  return read - 6755399441055744.0;
}

// Returns the leaves of a tile that may be written, those within [begin, end), as a bitmap.
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

// A view of one tile's amounts.
struct TileView {
  const float* rows;
  std::int32_t first_leaf;
};

inline TileView TileOf(const BulkRequest& request, std::int32_t tile) {
  return {request.tiles + static_cast<std::size_t>(tile) * request.tile_stride, tile * kTile};
}

// Computes what the leaves of one part of some tiles hold, for workers alone or beside one leader.
template <std::int32_t kTiles, bool kBesideLeader>
inline void Fit(const BulkRequest::Vector& workers, const TileView* tiles, std::int32_t part,
                Integers* counts) {
  const std::int32_t lane = part * kLanes;
  Floats least[kTiles];
  for (std::int32_t i = 0; i < kTiles; ++i) least[i] = Floats{} + kMostFloat;
  for (const BulkRequest::FloatColumn& entry : workers.narrow) {
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
    for (const BulkRequest::DoubleColumn& entry : workers.wide) {
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

// Returns all ones where one pod of entry `order[i]` fits.
inline Integers EntryFits(const BulkRequest::Vector& vector, std::int32_t entry,
                          const TileView& tile, std::int32_t part) {
  const std::int32_t lane = part * kLanes;
  if (entry >= 0) {
    const BulkRequest::FloatColumn& narrow = vector.narrow[static_cast<std::size_t>(entry)];
    return Load<Floats>(tile.rows + narrow.row + lane) >= narrow.request;
  }
  const BulkRequest::DoubleColumn& wide = vector.wide[static_cast<std::size_t>(~entry)];
  return __builtin_convertvector(LoadAmounts(wide.column + tile.first_leaf + lane) >= wide.request,
                                 Integers);
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

// Tells which tiles have a leaf with room for one pod, as far as `narrow` says. Skips resources
// that every tile has enough of.
class RoomCheck {
 public:
  explicit RoomCheck(const BulkRequest& request)
      : most_(request.most), stride_(request.tile_stride) {
    if (most_ == nullptr) return;
    for (const BulkRequest::FloatColumn& entry : request.workers.narrow) {
      if (entry.request > request.min_tile_max[entry.row / kTile]) {
        needs_[size_++] = {entry.row, entry.request};
      }
    }
  }

  // Returns whether one tile has a leaf with room.
  bool In(std::int32_t tile) const {
    if (size_ == 0) return true;
    const float* most = most_ + static_cast<std::size_t>(tile / kTile) * stride_ + tile % kTile;
    for (std::size_t i = 0; i < size_; ++i) {
      if (most[needs_[i].row] < needs_[i].request) return false;
    }
    return true;
  }

  // Returns a bitmap of the 16 tiles of a group.
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

// Returns the pods by lane of leaves [begin, end).
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

// Returns the pods by lane of whole tiles, the parts of each added up.
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

// Returns the pods of kLanes whole tiles.
inline Unsigned SumTiles(const BulkRequest& request, const std::int32_t* tiles) {
  static_assert(kLanes % kTogether == 0);
  Unsigned lanes[kLanes];
  for (std::int32_t i = 0; i < kLanes; i += kTogether) SumTogether(request, tiles + i, lanes + i);
  FoldLanes<kLanes / 2>(lanes);
  return lanes[0];
}

// Writes to sums[place(i)] the pods of tiles[i], of which there are 1 to kLanes; the others of
// kLanes are overwritten.
template <class Place>
inline void SumSome(const BulkRequest& request, std::int32_t* tiles, std::int32_t size,
                    const Place& place, StoredCount* sums) {
  std::fill(tiles + size, tiles + kLanes, tiles[0]);
  const Unsigned pods = SumTiles(request, tiles);
  for (std::int32_t i = 0; i < size; ++i) sums[place(i)] = static_cast<StoredCount>(pods[i]);
}

// Writes to sums[i] the pods of tile `first` + i. Only tiles with room are counted, kLanes at a
// time.
void SumRun(const BulkRequest& request, std::int32_t first, std::int32_t count, StoredCount* sums) {
  std::fill_n(sums, count, 0);
  const RoomCheck room_in(request);
  std::int32_t tiles[kTile + 2 * kLanes];
  std::int32_t size = 0;
  const auto place = [&](std::int32_t i) { return tiles[i] - first; };
  const std::int32_t end = first + count;
  for (std::int32_t group = first / kTile; group * kTile < end; ++group) {
    const std::uint32_t room = room_in(group) & WithinRange(group, first, end);
    for (std::int32_t lane = 0; lane < kTile; lane += kLanes) {
      size += WriteBits((room >> lane) & ((1U << kLanes) - 1), group * kTile + lane, tiles + size);
    }
    for (; size >= kLanes; size -= kLanes) {
      SumSome(request, tiles, kLanes, place, sums);
      std::copy(tiles + kLanes, tiles + size, tiles);
    }
  }
  if (size > 0) SumSome(request, tiles, size, place, sums);
}

// Writes to sums[i] the pods of tile ids[i]. Only tiles with room are counted, kLanes at a time.
void SumListed(const BulkRequest& request, const std::int32_t* ids, std::int32_t count,
               StoredCount* sums) {
  std::fill_n(sums, count, 0);
  const RoomCheck room(request);
  std::int32_t tiles[kLanes];
  std::int32_t places[kLanes];
  std::int32_t size = 0;
  const auto place = [&](std::int32_t i) { return places[i]; };
  for (std::int32_t i = 0; i < count; ++i) {
    if (!room.In(ids[i])) continue;
    tiles[size] = ids[i];
    places[size] = i;
    if (++size < kLanes) continue;
    SumSome(request, tiles, kLanes, place, sums);
    size = 0;
  }
  if (size > 0) SumSome(request, tiles, size, place, sums);
}

void SumGroupsInBulk(const BulkRequest& request, const GroupLayout& layout,
                     const LeafGroups& groups, StoredCount* sums) {
  if (layout.tiles) {
    return groups.ids == nullptr ? SumRun(request, groups.first, groups.count, sums)
                                 : SumListed(request, groups.ids, groups.count, sums);
  }
  for (std::int32_t first = 0; first < groups.count; first += kLanes) {
    const std::int32_t size = std::min(kLanes, groups.count - first);
    Unsigned lanes[kLanes] = {};
    for (std::int32_t i = 0; i < size; ++i) {
      const std::int32_t* leaves = layout.leaf_begin + groups[first + i];
      lanes[i] = SumLeaves(request, leaves[0] - layout.first_leaf, leaves[1] - layout.first_leaf);
    }
    FoldLanes<kLanes / 2>(lanes);
    std::memcpy(sums + first, &lanes[0], static_cast<std::size_t>(size) * sizeof(StoredCount));
  }
}

constexpr SimdImplementation MakeSimdImplementation(std::string_view name) {
  return {CountLeavesInBulk, SumGroupsInBulk, SumChildrenInBulk, Divide,
          NoteRuns,          SumClasses,      FindReasons,       FindReasonsInTiles,
          AddByReason,       FindChanged,     FindTightest,      name};
}

}  // namespace
}  // namespace espalier
