#include "host/readers/long_scalars.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::string_view kName = "espalier-long-scalar-";
// A longer one is left to the parser, which has a limit.
constexpr std::size_t kLongest = std::size_t{1} << 20;

// Returns what is between the quotes of a line that ends with a single-quoted scalar; empty where
// it does not.
std::string_view QuotedAtEnd(std::string_view line) {
  constexpr std::string_view kBegin = ": '";
  const std::size_t begin = line.find(kBegin);
  if (begin == line.npos || !line.ends_with('\'')) return {};
  line.remove_prefix(begin + kBegin.size());
  if (line.empty()) return {};
  line.remove_suffix(1);
  for (std::size_t at = line.find('\''); at != line.npos; at = line.find('\'', at + 2)) {
    if (at + 1 == line.size() || line[at + 1] != '\'') return {};
  }
  return line;
}

bool HasControls(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

LongScalars::LongScalars(std::string_view text, std::size_t shortest) {
  if (text.find(kName) != text.npos) return;
  std::size_t copied = 0;
  bool literal_begins = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    std::string_view content;
    if (line.size() >= shortest && line.size() <= kLongest && !HasControls(line)) {
      content = literal_begins ? line.substr(std::min(line.find_first_not_of(' '), line.size()))
                               : QuotedAtEnd(line);
    }
    if (!content.empty() && content.size() >= shortest) {
      const auto begin = static_cast<std::size_t>(content.data() - text.data());
      Cut(content, !literal_begins, text.substr(copied, begin - copied));
      copied = begin + content.size();
    }
    literal_begins = line.ends_with(": |") || line.ends_with(": |-");
  }
  if (!scalars_.empty()) text_ += text.substr(copied);
}

void LongScalars::Cut(std::string_view content, bool is_quoted, std::string_view before) {
  text_ += before;
  text_ += kName;
  text_ += std::to_string(scalars_.size());
  scalars_.push_back({content, is_quoted, false});
}

std::optional<std::string> LongScalars::Find(std::string_view scalar) {
  if (!scalar.starts_with(kName)) return std::nullopt;
  const char* end_of_scalar = scalar.data() + scalar.size();
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(scalar.data() + kName.size(), end_of_scalar, number);
  if (error != std::errc() || number >= scalars_.size()) return std::nullopt;
  Scalar& found = scalars_[number];
  const bool is_whole = end == end_of_scalar;
  if (found.found || !(is_whole || (!found.is_quoted && *end == '\n'))) return std::nullopt;
  found.found = true;
  ++found_;
  std::string value;
  for (std::string_view rest = found.content; !rest.empty();) {
    const std::size_t quote = found.is_quoted ? rest.find('\'') : rest.npos;
    value += rest.substr(0, quote == rest.npos ? quote : quote + 1);
    rest.remove_prefix(quote == rest.npos ? rest.size() : quote + 2);
  }
  return value.append(end, end_of_scalar);
}

}  // namespace espalier
