// Classifies leaves by their remaining capacity. In most clusters many leaves are equal: the counts
// of a request on one leaf of a class hold for all of it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/packing/flavor_tree.hpp"
#include "host/packing/tiled_capacity.hpp"

namespace espalier {

// The classes of equal leaves of a state, as they were at one moment: leaves change later, the
// classes do not.
class LeafClasses {
 public:
  static constexpr std::int32_t kMostClasses = 255;

  // Returns the classes: leaves are of one class when all their units are equal. Returns null when
  // there are more than kMostClasses, or nothing to compare.
  static std::shared_ptr<const LeafClasses> Find(const TiledCapacity& tiles, std::int32_t leaves);

  // Returns the same for leaves that have moved in runs, which ascend. The classes of leaves in
  // none of the runs are meaningless.
  std::shared_ptr<const LeafClasses> Moved(std::span<const LeafRun> runs,
                                           std::int32_t leaves) const;

  // Returns how many leaves each class has.
  std::span<const std::int32_t> leaves() const { return leaves_; }
  std::int32_t count() const { return static_cast<std::int32_t>(leaves_.size()); }

  // Returns the class of each leaf; the entries behind the last leaf, to the end of its tile, are
  // count().
  std::span<const std::uint8_t> of_leaf() const { return of_leaf_; }

  // Returns a leaf of each class, in tiles as TiledCapacity::Tile has them.
  const float* tiles() const { return units_.data(); }

 private:
  // Finds the classes of some leaves, from the first of a tile on; none when there are too many.
  void Classify(const TiledCapacity& tiles, DomainRange some);
  // Appends leaves that are classified by themselves. Returns false when there are too many
  // classes. `slots` are the classes by hash of their units; kMostClasses: free.
  bool Append(const LeafClasses& part, std::size_t columns, std::span<std::uint8_t> slots);
  // Returns the class of a leaf with units such as tiles have them, which is added when it is new;
  // -1 when there are too many.
  std::int32_t FindOrAdd(const float* wanted, std::size_t columns, std::span<std::uint8_t> slots);

  std::vector<std::int32_t> leaves_;
  std::vector<std::uint8_t> of_leaf_;
  std::vector<float> units_;
};

}  // namespace espalier
