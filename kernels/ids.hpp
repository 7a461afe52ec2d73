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

using DomainId = Id<struct DomainTag>;  // level-major over the whole tree, path order in a level
using LeafId = Id<struct LeafTag>;      // 0-based among the domains of the lowest level

}  // namespace espalier
