// Writes numbers of things in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace espalier {

// Returns a text such as "1 node" or "2 nodes".
inline std::string CountWithNoun(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace espalier
