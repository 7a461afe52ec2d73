// Leaves by what is left on them. In most clusters many leaves are equal: what a request finds on
// one leaf of a class, it finds on all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/packing/tiled_capacity.hpp"

namespace espalier {

// As they were at one moment; leaves change later, these do not.
class LeafClasses {
 public:
  static constexpr std::int32_t kMostClasses = 255;

  // Leaves are of one class where all their units are equal. Null where there are more than
  // kMostClasses, or nothing to compare.
  static std::shared_ptr<const LeafClasses> Find(const TiledCapacity& tiles, std::int32_t leaves);

  // Leaves of each class.
  std::span<const std::int32_t> leaves() const { return leaves_; }
  std::int32_t count() const { return static_cast<std::int32_t>(leaves_.size()); }

  // The class of each leaf; behind the last one, to the end of its tile, count().
  std::span<const std::uint8_t> of_leaf() const { return of_leaf_; }

  // A leaf of each class, in tiles as TiledCapacity::Tile has them.
  const float* tiles() const { return units_.data(); }

 private:
  LeafClasses(const TiledCapacity& tiles, std::int32_t leaves);

  // The class of a lane of a tile, made where there is none; -1 where there is no place for it.
  // `slots`: the classes by hash of their units; kMostClasses: free.
  std::int32_t Classify(const float* tile, std::size_t columns, std::int32_t lane,
                        std::span<std::uint8_t> slots);

  std::vector<std::int32_t> leaves_;
  std::vector<std::uint8_t> of_leaf_;
  std::vector<float> units_;
};

}  // namespace espalier
