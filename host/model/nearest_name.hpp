// Which known name somebody may have meant by one that is misspelled.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace espalier {

// Returns how many letters have to be put in, left out, replaced or swapped with their neighbour to
// make `a` of `b`, letters of either case being equal. Returns `limit` + 1 for more than `limit`.
std::size_t SpellingDistance(std::string_view a, std::string_view b, std::size_t limit);

// Returns the name that is nearest to `text`, the first of several; empty where none is near: at
// most one letter off, or two from eight letters on.
std::string_view NearestName(std::string_view text, std::span<const std::string_view> names);

}  // namespace espalier
