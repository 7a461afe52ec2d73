// Counts leaves in bulk, without dividing: floor is monotone, so min_r floor(free_r / request_r)
// is floor(min_r free_r * (1 / request_r)) with reciprocals a hair too large. Exact within the
// ranges below; the plain decision in kernels/ covers the rest.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "host/packing/group_stamps.hpp"
#include "host/packing/leaf_classes.hpp"
#include "host/packing/tiled_capacity.hpp"
#include "kernels/decisions/fits.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/decisions/slice_index.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Maximum number of resources of a vector for bulk counting; larger ones are counted one by one.
inline constexpr std::size_t kMaxBulkResources = 32;

// Some groups: those in `ids` or, when that is null, all from `first` on.
struct LeafGroups {
  const std::int32_t* ids = nullptr;
  std::int32_t first = 0;
  std::int32_t count = 0;

  std::int32_t operator[](std::int32_t i) const { return ids == nullptr ? first + i : ids[i]; }
  // Returns those from `begin` up to `end`.
  LeafGroups Part(std::int32_t begin, std::int32_t end) const {
    return {ids == nullptr ? nullptr : ids + begin, first + begin, end - begin};
  }
};

// One request vector, prepared for counting against the capacity of a state.
struct BulkRequest {
  // A resource whose requests are whole units of the tiled capacity, within its exact range.
  struct FloatColumn {
    std::int32_t row = 0;  // floats from the start of a tile
    float inverse = 0;     // a little more than 1 / request
    float request = 0;     // units, > 0
    float leader = 0;      // units a leader takes
  };
  // Any other resource: a column of amounts by leaf, readable for 16 leaves past its end.
  struct DoubleColumn {
    const Amount* column = nullptr;
    double inverse = 0;
    double request = 0;
    double leader = 0;
  };
  struct Vector {
    std::vector<FloatColumn> narrow;
    std::vector<DoubleColumn> wide;
    // R5.10: the entries in byte-wise order of the names; i: narrow[i], ~i: wide[i].
    std::vector<std::int32_t> order;
    std::vector<std::int32_t> resource;  // by position in `order`: which of the shape's
  };

  Vector workers;  // at least one entry
  Vector leader;   // no entry: no leader; of the numbers only `request` counts
  const float* tiles = nullptr;
  std::size_t tile_stride = 0;
  const float* most = nullptr;             // TiledCapacity::Most; null: nothing is known
  const float* min_tile_max = nullptr;     // TiledCapacity::MinTileMax, where that is known
  const std::uint64_t* matches = nullptr;  // bitmap over leaves; null: every leaf
};

// The leaves of groups: group b has [leaf_begin[b], leaf_begin[b + 1]), less `first_leaf` each.
struct GroupLayout {
  const std::int32_t* leaf_begin = nullptr;
  std::int32_t first_leaf = 0;
  bool tiles = false;  // every group is one whole tile
};

// Counts by leaf. The last two are written only with a leader.
struct LeafColumns {
  StoredCount* pods = nullptr;
  StoredCount* pods_with_leader = nullptr;
  std::uint8_t* leaders = nullptr;
};

// A number for each class of LeafClasses.
struct ClassTable {
  std::int32_t classes = 0;
  std::uint8_t values[LeafClasses::kMostClasses + 1] = {};  // read in whole registers
};

// The functions of bulk counting, compiled for one instruction set.
struct SimdImplementation {
  static constexpr std::int32_t kReadAhead = 16;

  // Counts leaves [begin, end).
  void (*count)(const BulkRequest& request, std::int32_t begin, std::int32_t end,
                const LeafColumns& out);
  // Writes to sums[i] the pods of groups[i], modulo 2^32.
  void (*sum)(const BulkRequest& request, const GroupLayout& layout, const LeafGroups& groups,
              StoredCount* sums);
  // Writes to sums[i] what the leaves of groups[i] hold together, of which `leaves` has the counts
  // by domain id, readable for kReadAhead entries past the end, and the slice rule no inner size.
  // No sum passes 31 bits, and no leaf holds more beside a leader than without.
  void (*sum_children)(const GroupLayout& layout, const LeafGroups& groups,
                       const CountsView& leaves, ChildSums* sums);
  // Writes to quotients[i] values[i] / divisor, of values that are 0 or more; `inverse` is the
  // divisor's reciprocal. Both arrays may be one.
  void (*divide)(const StoredCount* values, std::int32_t size, double inverse,
                 StoredCount* quotients);
  // Sums up runs of leaves that hold `slices`; the last one may be shorter.
  void (*note_runs)(const StoredCount* slices, std::int32_t leaves, SliceIndex::Run* runs);
  // Writes to sums[b] the sum of what `table` has for the classes of the leaves of group b, to the
  // end of the last tile; where `matches`, a bitmap, is given, of the leaves that match.
  void (*sum_classes)(const ClassTable& table, const std::uint8_t* classes,
                      const std::uint64_t* matches, const GroupLayout& layout, std::int32_t groups,
                      StoredCount* sums);
  // Writes to reasons[i] FirstWithoutRoom of leaf i, for as many leaves as fill whole runs of
  // kReadAhead. Requires requests of 0 or more.
  void (*find_reasons)(const RequestView& request, const CapacityView& capacity,
                       std::int32_t leaves, std::int16_t* reasons);
  // Writes the same for the leaves of some tiles, from the first one's on, by a request without
  // wide entries.
  void (*find_reasons_in_tiles)(const BulkRequest& request, std::int32_t first_tile,
                                std::int32_t tiles, std::int16_t* reasons);
  // Adds times[i], or 1 where that is null, to by_reason[reasons[i]] for each reason of 0 or more,
  // of which there are fewer than `size`. All together fit 31 bits.
  void (*add_by_reason)(const std::int16_t* reasons, const std::int32_t* times, std::int32_t count,
                        std::int32_t size, std::int64_t* by_reason);
  // Writes to `groups` which of the groups [begin, end) have a stamp after `since`, less those
  // without pods where `pods` is given; returns how many. There is room for all and kReadAhead
  // more.
  std::int32_t (*changed)(const Stamp* stamps, const StoredCount* pods, std::int32_t begin,
                          std::int32_t end, Stamp since, std::int32_t* groups);
  // Returns the index of the first smallest value >= need among `size` values, or -1. Of equal
  // values the one with the smallest entry in `ties`, where given, is smaller.
  std::int32_t (*tightest)(const StoredCount* values, const StoredCount* ties, std::int32_t size,
                           StoredCount need);
  std::string_view name;  // avx512, avx2 or plain
};

// Returns the implementations that this processor can run, best first; all give the same counts.
std::vector<SimdImplementation> SupportedSimdImplementations();

// Returns the implementation in use: the best supported one, or the one that ESPALIER_SIMD names.
// An unknown or unsupported name there ends the program with a message: it is an operator's
// explicit wish.
const SimdImplementation& ActiveSimdImplementation();

}  // namespace espalier
