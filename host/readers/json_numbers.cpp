#include "host/readers/json_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::string_view kMark("\0", 1);  // at the front of a string
constexpr std::string_view kMarkAsJson = "\\u0000";

// The end of the string that begins with the quote at `at`.
std::size_t EndOfString(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

template <class Number>
std::errc Parse(std::string_view token) {
  Number number{};
  const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), number);
  // A token that is no number at all is left to the JSON parser.
  return end == token.data() + token.size() ? code : std::errc::invalid_argument;
}

// Returns what stands for a number in the new text.
std::string Rewritten(std::string_view token) {
  const bool integer = token.find_first_of(".eE") == std::string_view::npos;
  if (integer && (Parse<std::int64_t>(token) == std::errc::result_out_of_range &&
                  Parse<std::uint64_t>(token) != std::errc{})) {
    double number = 0;
    const auto [end, code] = std::from_chars(token.data(), token.data() + token.size(), number);
    if (code == std::errc{}) return fmt::format("{}", number);
  }
  if (!IsOutOfRange(token)) return std::string(token);
  return fmt::format("\"{}{}\"", kMarkAsJson, token);
}

}  // namespace

std::string MarkUnreadableNumbers(std::string_view text) {
  constexpr std::string_view kOfNumbers = "+-.0123456789eE";
  std::string marked;
  marked.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = std::min(text.find_first_of("\"-0123456789", at), text.size());
    marked.append(text, at, end - at);
    at = end;
    if (at == text.size()) break;
    if (text[at] == '"') {
      end = EndOfString(text, at);
      marked.append(text, at, end - at);
    } else {
      end = std::min(text.find_first_not_of(kOfNumbers, at), text.size());
      marked += Rewritten(text.substr(at, end - at));
    }
    at = end;
  }
  return marked;
}

bool IsOutOfRange(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  // A number that is too small is as good as 0.
  const bool small = text.find("e-") != text.npos || text.find("E-") != text.npos;
  return !small && Parse<double>(text) == std::errc::result_out_of_range;
}

std::optional<std::string_view> UnreadableNumber(simdjson::dom::element value) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS || !text.starts_with(kMark)) return std::nullopt;
  return text.substr(kMark.size());
}

}  // namespace espalier
