// Spreads the work of a kernel over its blocks.
#pragma once

#include <cstdint>

#include "kernels/macros.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Returns whether the arrays are the same: arguments that compare equal launch the same work.
inline bool operator==(const TreeView& a, const TreeView& b) {
  return a.level_count == b.level_count && a.level_begin == b.level_begin && a.parent == b.parent &&
         a.child_begin == b.child_begin;
}

// Blocks in each direction; also the position of one block.
struct Grid {
  std::int32_t x = 1;
  std::int32_t y = 1;
};

// Leaves or domains that one block works on.
inline constexpr std::int32_t kItemsPerBlock = 1024;
// Groups of leaves that one block counts: one for each lane, as each is many leaves.
inline constexpr std::int32_t kGroupsPerBlock = 256;
// Shapes that one block counts.
inline constexpr std::int32_t kShapesPerBlock = 8;

ESPALIER_HD inline std::int32_t BlocksFor(std::int32_t items, std::int32_t per_block) {
  return items / per_block + (items % per_block > 0 ? 1 : 0);
}

// Returns the part of [0, items) that block `block` works on.
ESPALIER_HD inline DomainRange Portion(std::int32_t items, std::int32_t block,
                                       std::int32_t per_block = kItemsPerBlock) {
  const std::int32_t begin = block * per_block;
  const std::int32_t rest = items - begin;
  return {begin, begin + (rest < per_block ? rest : per_block)};
}

// Leaves or domains of one level: those of a list, or a run without gaps.
struct Items {
  std::int32_t size = 0;
  std::int32_t begin = 0;
  const std::int32_t* list = nullptr;  // [size] distinct; null: begin, begin + 1, ...

  ESPALIER_HD std::int32_t operator[](std::int32_t i) const {
    return list == nullptr ? begin + i : list[i];
  }
  bool operator==(const Items&) const = default;
};

}  // namespace espalier
