// Typed indices. A value of one kind never converts into another, nor silently into an integer.
#pragma once

#include <compare>
#include <cstdint>

#include "kernels/macros.hpp"

namespace espalier {

// An index into one kind of array. Negative means "none".
template <class Tag>
struct Id {
  std::int32_t value = -1;

  constexpr Id() = default;
  ESPALIER_HD constexpr explicit Id(std::int32_t v) : value(v) {}
  ESPALIER_HD constexpr bool valid() const { return value >= 0; }
  constexpr auto operator<=>(const Id&) const = default;
};

using LevelId = Id<struct LevelTag>;    // 0 is the coarsest level (R1.1)
using DomainId = Id<struct DomainTag>;  // level-major over the whole tree, path order in a level
using LeafId = Id<struct LeafTag>;      // 0-based among the domains of the lowest level
using ResourceId = Id<struct ResourceTag>;  // in byte-wise order of the names (R5.10)

}  // namespace espalier
