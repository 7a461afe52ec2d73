#include "service/cli/options/brace_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace espalier {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::size_t CommonPrefix(std::span<const std::string> names) {
  std::size_t length = names[0].size();
  for (const std::string& name : names) {
    const auto [end, unused] =
        std::mismatch(names[0].begin(), names[0].begin() + length, name.begin(), name.end());
    length = static_cast<std::size_t>(end - names[0].begin());
  }
  // A number is never cut in two: "n{08,09,10}" reads better than "n{08,09,1}0".
  while (length > 0 && IsDigit(names[0][length - 1])) --length;
  return length;
}

std::size_t CommonSuffix(std::span<const std::string> names, std::size_t prefix) {
  std::size_t length = names[0].size() - prefix;
  for (const std::string& name : names) {
    length = std::min(length, name.size() - prefix);
    const auto [end, unused] =
        std::mismatch(names[0].rbegin(), names[0].rbegin() + length, name.rbegin());
    length = static_cast<std::size_t>(end - names[0].rbegin());
  }
  while (length > 0 && IsDigit(names[0][names[0].size() - length])) --length;
  return length;
}

// The number a middle part is, when it is nothing but digits and small enough to count with.
std::optional<std::int64_t> NumberOf(std::string_view text) {
  if (text.empty() || text.size() > 18 || !std::all_of(text.begin(), text.end(), IsDigit)) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// True when `next` is `text` plus one, written with the same leading zeros.
bool Follows(std::string_view text, std::string_view next) {
  const auto a = NumberOf(text);
  const auto b = NumberOf(next);
  if (!a || !b || *b != *a + 1) return false;
  const bool padded = text.front() == '0' || next.front() == '0';
  return !padded || text.size() == next.size();
}

}  // namespace

std::string BraceText(std::span<const std::string> names, std::size_t limit) {
  std::vector<std::string> distinct;
  for (const std::string& name : names) {
    if (distinct.empty() || distinct.back() != name) distinct.push_back(name);
  }
  if (distinct.empty()) return "";
  if (distinct.size() == 1) return distinct[0];

  const std::size_t prefix = CommonPrefix(distinct);
  const std::size_t suffix = CommonSuffix(distinct, prefix);
  const auto middle = [&](std::size_t i) {
    return std::string_view(distinct[i]).substr(prefix, distinct[i].size() - prefix - suffix);
  };

  std::vector<std::string> members;
  std::size_t i = 0;
  while (i < distinct.size() && members.size() < limit) {
    std::size_t last = i;
    while (last + 1 < distinct.size() && Follows(middle(last), middle(last + 1))) ++last;
    if (last - i >= 2) {
      members.push_back(fmt::format("{}..{}", middle(i), middle(last)));
      i = last + 1;
    } else {
      members.emplace_back(middle(i));
      ++i;
    }
  }
  if (i < distinct.size()) members.push_back(fmt::format("+{} more", distinct.size() - i));
  return fmt::format("{}{{{}}}{}", distinct[0].substr(0, prefix), fmt::join(members, ","),
                     distinct[0].substr(distinct[0].size() - suffix));
}

}  // namespace espalier
