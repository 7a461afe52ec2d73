// Suggests the known name that a misspelled one was meant to be.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace espalier {

// Returns how many letters must be inserted, removed, replaced or swapped with their neighbour to
// turn `b` into `a`; letters of either case are equal. Returns `limit` + 1 for more than `limit`.
std::size_t SpellingDistance(std::string_view a, std::string_view b, std::size_t limit);

// Returns the name that is nearest to `text`, the first of several; empty when none differs by at
// most one letter, or two for texts of eight letters and more.
std::string_view NearestName(std::string_view text, std::span<const std::string_view> names);

}  // namespace espalier
