#include "host/packing/leaf_classes.hpp"

#include <algorithm>
#include <bit>

namespace espalier {
namespace {

constexpr std::int32_t kTile = TiledCapacity::kTileLeaves;
constexpr int kSlotBits = 10;
constexpr std::uint8_t kFree = LeafClasses::kMostClasses;

std::uint32_t Bits(float units) { return std::bit_cast<std::uint32_t>(units); }

// Returns the lanes of a tile whose units are all those of `lane`, as a bitmap.
std::uint32_t EqualLanes(const float* tile, std::size_t columns, std::int32_t lane) {
  std::uint32_t differ[kTile] = {};
  for (const float* row = tile; row != tile + columns * kTile; row += kTile) {
    const std::uint32_t wanted = Bits(row[lane]);
    for (std::int32_t i = 0; i < kTile; ++i) differ[i] |= Bits(row[i]) ^ wanted;
  }
  std::uint32_t equal = 0;
  for (std::int32_t i = 0; i < kTile; ++i) {
    equal |= static_cast<std::uint32_t>(differ[i] == 0) << i;
  }
  return equal;
}

}  // namespace

std::shared_ptr<const LeafClasses> LeafClasses::Find(const TiledCapacity& tiles,
                                                     std::int32_t leaves) {
  const std::shared_ptr<const LeafClasses> classes(new LeafClasses(tiles, leaves));
  return classes->leaves_.empty() ? nullptr : classes;
}

LeafClasses::LeafClasses(const TiledCapacity& tiles, std::int32_t leaves)
    : of_leaf_(static_cast<std::size_t>((leaves + kTile - 1) / kTile * kTile)) {
  const std::size_t columns = tiles.tile_stride() / kTile;
  if (columns == 0) return;
  std::vector<std::uint8_t> slots(std::size_t{1} << kSlotBits, kFree);
  for (std::int32_t first = 0; first < leaves; first += kTile) {
    const float* tile = tiles.Tile(first / kTile);
    const std::int32_t present = std::min(leaves - first, kTile);
    for (std::uint32_t left = (1U << present) - 1; left != 0;) {
      const std::int32_t lane = std::countr_zero(left);
      const std::int32_t found = Classify(tile, columns, lane, slots);
      if (found < 0) {
        leaves_.clear();
        return;
      }
      const std::uint32_t equal = EqualLanes(tile, columns, lane) & left;
      leaves_[static_cast<std::size_t>(found)] += std::popcount(equal);
      for (std::uint32_t lanes = equal; lanes != 0; lanes &= lanes - 1) {
        of_leaf_[static_cast<std::size_t>(first + std::countr_zero(lanes))] =
            static_cast<std::uint8_t>(found);
      }
      left &= ~equal;
    }
  }
  std::fill(of_leaf_.begin() + leaves, of_leaf_.end(), static_cast<std::uint8_t>(count()));
}

std::shared_ptr<const LeafClasses> LeafClasses::Moved(std::span<const LeafRun> runs,
                                                      std::int32_t leaves) const {
  const std::shared_ptr<LeafClasses> moved(new LeafClasses());
  moved->units_ = units_;
  moved->leaves_.resize(leaves_.size());
  moved->of_leaf_.resize(static_cast<std::size_t>((leaves + kTile - 1) / kTile * kTile));
  for (const LeafRun& run : runs) {
    std::copy_n(of_leaf_.begin() + run.from, run.size, moved->of_leaf_.begin() + run.to);
  }
  for (std::int32_t leaf = 0; leaf < leaves; ++leaf) {
    ++moved->leaves_[moved->of_leaf_[static_cast<std::size_t>(leaf)]];
  }
  std::fill(moved->of_leaf_.begin() + leaves, moved->of_leaf_.end(),
            static_cast<std::uint8_t>(count()));
  return moved;
}

std::int32_t LeafClasses::Classify(const float* tile, std::size_t columns, std::int32_t lane,
                                   std::span<std::uint8_t> slots) {
  const std::size_t stride = columns * kTile;
  const float* const wanted = tile + lane;
  std::uint32_t hash = 0;
  for (std::size_t at = 0; at < stride; at += kTile) {
    hash = (std::rotl(hash, 5) ^ Bits(wanted[at])) * 0x9e3779b1U;
  }
  const auto units_of = [&](std::size_t of_class) {
    return units_.data() + of_class / kTile * stride + of_class % kTile;
  };
  std::size_t slot = hash >> (32 - kSlotBits);
  for (; slots[slot] != kFree; slot = (slot + 1) % slots.size()) {
    const float* const units = units_of(slots[slot]);
    bool equal = true;
    for (std::size_t at = 0; at < stride; at += kTile) equal = equal && units[at] == wanted[at];
    if (equal) return slots[slot];
  }
  if (count() == kMostClasses) return -1;
  const std::size_t added = leaves_.size();
  if (added % kTile == 0) units_.resize(units_.size() + stride);
  for (std::size_t at = 0; at < stride; at += kTile) units_of(added)[at] = wanted[at];
  leaves_.push_back(0);
  slots[slot] = static_cast<std::uint8_t>(added);
  return static_cast<std::int32_t>(added);
}

}  // namespace espalier
