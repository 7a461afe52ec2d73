#include "host/model/nearest_name.hpp"

#include <algorithm>
#include <vector>

namespace espalier {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::size_t SpellingDistance(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  // Distances of all prefixes of b from the first i letters of a, and of i - 1 and of i - 2.
  std::vector<std::size_t> row(b.size() + 1), above(b.size() + 1), above_that(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(above_that, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto same = [&](std::size_t x, std::size_t y) { return Lower(a[x]) == Lower(b[y]); };
      row[j] =
          std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same(i - 1, j - 1) ? 0 : 1)});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1)) {
        row[j] = std::min(row[j], above_that[j - 2] + 1);
      }
    }
  }
  return std::min(row[b.size()], limit + 1);
}

std::string_view NearestName(std::string_view text, std::span<const std::string_view> names) {
  constexpr std::size_t kLong = 8;
  const std::size_t limit = text.size() < kLong ? 1 : 2;
  std::string_view nearest;
  std::size_t least = limit + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = SpellingDistance(text, name, limit);
    if (distance < least) {
      least = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace espalier
