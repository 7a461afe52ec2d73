// Reads whole numbers as Go's strconv does.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace espalier {

// Reads a signed decimal number that is all of `text`; an explicit plus and leading zeros are fine.
// Returns nullopt for anything else, and for a number that `Integer` does not hold.
template <class Integer>
std::optional<Integer> ParseInteger(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  Integer number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace espalier
