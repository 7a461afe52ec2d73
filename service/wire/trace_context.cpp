#include "service/wire/trace_context.hpp"

#include <algorithm>
#include <cstddef>

namespace espalier {
namespace {

bool IsHex(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool IsZero(std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; }

}  // namespace

TraceContext ReadTraceParent(std::string_view text) {
  // version-trace-parent-flags; what a later version has behind that is not looked at.
  constexpr std::size_t kLength = 55;
  if (text.size() < kLength || text[2] != '-' || text[35] != '-' || text[52] != '-') return {};
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, 32);
  const std::string_view parent = text.substr(36, 16);
  if (!IsHex(version, 2) || version == "ff" || !IsHex(trace, 32) || IsZero(trace) ||
      !IsHex(parent, 16) || IsZero(parent) || !IsHex(text.substr(53, 2), 2)) {
    return {};
  }
  if (text.size() > kLength && (version == "00" || text[kLength] != '-')) return {};
  return {std::string(trace), std::string(parent)};
}

}  // namespace espalier
