#include "host/model/go_texts.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "host/model/parse_bool.hpp"

namespace espalier {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + '"';
}

Result<std::int64_t> ParseGoInt(std::string_view function, std::string_view text,
                                std::int64_t least, std::int64_t most) {
  const auto fails = [&](std::string_view why) {
    return BadInput(fmt::format("strconv.{}: parsing {}: {}", function, Quoted(text), why));
  };
  std::string_view digits = text;
  if (!digits.empty() && (digits.front() == '+' || digits.front() == '-')) digits.remove_prefix(1);
  const bool all_digits =
      !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!all_digits) return fails("invalid syntax");
  std::int64_t value = 0;
  const char* begin = text.data() + (text.front() == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc() || value < least || value > most) return fails("value out of range");
  return value;
}

Result<bool> ParseGoBool(std::string_view text) {
  if (const auto value = ParseBool(text)) return *value;
  return BadInput(fmt::format("strconv.ParseBool: parsing {}: invalid syntax", Quoted(text)));
}

}  // namespace espalier
