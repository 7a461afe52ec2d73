#include "host/packing/leaf_classes.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "host/packing/parallel_for.hpp"

namespace espalier {
namespace {

constexpr auto kTile = TiledCapacity::kTileLeaves;
constexpr int kSlotBits = 10;
constexpr std::uint8_t kFree = LeafClasses::kMostClasses;
// Leaves that are classified by one thread, whole tiles of them.
constexpr std::int32_t kLeavesOfPart = 1 << 14;

std::vector<std::uint8_t> FreeSlots() { return std::vector(std::size_t{1} << kSlotBits, kFree); }

// Returns where the first unit of a class is; those of further columns are a tile's leaves apart.
std::size_t FirstUnit(std::size_t of_class, std::size_t columns) {
  return of_class / kTile * columns * kTile + of_class % kTile;
}

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
  const std::size_t columns = tiles.tile_stride() / kTile;
  if (columns == 0 || leaves == 0) return nullptr;
  const auto parts = static_cast<std::size_t>((leaves + kLeavesOfPart - 1) / kLeavesOfPart);
  std::vector<LeafClasses> of_part(parts);
  ParallelFor(parts, static_cast<std::size_t>(leaves) * columns, [&](std::size_t part) {
    const std::int32_t begin = static_cast<std::int32_t>(part) * kLeavesOfPart;
    of_part[part].Classify(tiles, {begin, std::min(begin + kLeavesOfPart, leaves)});
  });
  const auto all = std::make_shared<LeafClasses>();
  std::vector<std::uint8_t> slots = FreeSlots();
  for (const LeafClasses& part : of_part) {
    if (part.leaves_.empty() || !all->Append(part, columns, slots)) return nullptr;
  }
  std::fill(all->of_leaf_.begin() + leaves, all->of_leaf_.end(),
            static_cast<std::uint8_t>(all->count()));
  return all;
}

void LeafClasses::Classify(const TiledCapacity& tiles, DomainRange some) {
  const std::size_t columns = tiles.tile_stride() / kTile;
  of_leaf_.resize(static_cast<std::size_t>((some.size() + kTile - 1) / kTile * kTile));
  std::vector<std::uint8_t> slots = FreeSlots();
  for (std::int32_t first = 0; first < some.size(); first += kTile) {
    const float* tile = tiles.Tile((some.begin + first) / kTile);
    const std::int32_t present = std::min(some.size() - first, kTile);
    for (std::uint32_t left = (1U << present) - 1; left != 0;) {
      const std::int32_t lane = std::countr_zero(left);
      const std::int32_t found = FindOrAdd(tile + lane, columns, slots);
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
}

bool LeafClasses::Append(const LeafClasses& part, std::size_t columns,
                         std::span<std::uint8_t> slots) {
  std::array<std::uint8_t, kMostClasses + 1> here = {};
  for (std::size_t of_class = 0; of_class < part.leaves_.size(); ++of_class) {
    const std::int32_t found =
        FindOrAdd(part.tiles() + FirstUnit(of_class, columns), columns, slots);
    if (found < 0) return false;
    leaves_[static_cast<std::size_t>(found)] += part.leaves_[of_class];
    here[of_class] = static_cast<std::uint8_t>(found);
  }
  const std::size_t before = of_leaf_.size();
  of_leaf_.resize(before + part.of_leaf_.size());
  std::ranges::transform(part.of_leaf_, of_leaf_.begin() + static_cast<std::ptrdiff_t>(before),
                         [&](std::uint8_t of_class) { return here[of_class]; });
  return true;
}

std::shared_ptr<const LeafClasses> LeafClasses::Moved(std::span<const LeafRun> runs,
                                                      std::int32_t leaves) const {
  const auto moved = std::make_shared<LeafClasses>();
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

std::int32_t LeafClasses::FindOrAdd(const float* wanted, std::size_t columns,
                                    std::span<std::uint8_t> slots) {
  const std::size_t stride = columns * kTile;
  std::uint32_t hash = 0;
  for (std::size_t at = 0; at < stride; at += kTile) {
    hash = (std::rotl(hash, 5) ^ Bits(wanted[at])) * 0x9e3779b1U;
  }
  std::size_t slot = hash >> (32 - kSlotBits);
  for (; slots[slot] != kFree; slot = (slot + 1) % slots.size()) {
    const float* const units = tiles() + FirstUnit(slots[slot], columns);
    bool equal = true;
    for (std::size_t at = 0; at < stride; at += kTile) equal = equal && units[at] == wanted[at];
    if (equal) return slots[slot];
  }
  if (count() == kMostClasses) return -1;
  const std::size_t added = leaves_.size();
  if (added % kTile == 0) units_.resize(units_.size() + stride);
  float* const units = units_.data() + FirstUnit(added, columns);
  for (std::size_t at = 0; at < stride; at += kTile) units[at] = wanted[at];
  leaves_.push_back(0);
  slots[slot] = static_cast<std::uint8_t>(added);
  return static_cast<std::int32_t>(added);
}

}  // namespace espalier
