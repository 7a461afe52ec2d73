#include "host/model/excerpt.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::string_view kMore = "...";

struct CodeRange {
  std::uint32_t first;
  std::uint32_t last;
};

// Characters that nobody sees, or that change how others are shown: of the categories Cf, Zl and Zp
// of Unicode 14, or ignored where they cannot be shown (Default_Ignorable_Code_Point).
constexpr CodeRange kInvisible[] = {
    {0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},     {0x61c, 0x61c},
    {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},
    {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},
    {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},   {0xfe00, 0xfe0f},
    {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0x110bd, 0x110bd},
    {0x110cd, 0x110cd}, {0x13430, 0x13438}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff}};

bool IsInvisible(std::uint32_t code) {
  const CodeRange* range = std::ranges::lower_bound(kInvisible, code, {}, &CodeRange::last);
  return range != std::end(kInvisible) && range->first <= code;
}

// Returns the number of bytes of the UTF-8 character that `text` begins with; 0 when it begins with
// a control character, an invisible one or no UTF-8. `text` is not empty.
std::size_t PrintableBytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc0 || first >= 0xf8 || text.size() < size) return 0;
  std::uint32_t code = first & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0xa0, 0x800, 0x10000};  // behind C1; of no shorter form
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  const bool shown =
      code >= kLeast[size - 2] && code <= 0x10ffff && !surrogate && !IsInvisible(code);
  return shown ? size : 0;
}

void AppendEscaped(std::string& out, char c) {
  switch (c) {
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
  }
}

}  // namespace

std::string EscapeControls(std::string_view text) { return Excerpt(text, std::string::npos); }

std::string Excerpt(std::string_view text, std::size_t limit) {
  std::string out;
  std::size_t cut = 0;  // where "..." would still fit
  while (!text.empty()) {
    const std::size_t size = PrintableBytes(text);
    if (size == 0) {
      AppendEscaped(out, text.front());
    } else {
      out += text.substr(0, size);
    }
    if (out.size() > limit) {
      out.resize(cut);
      return out += kMore;
    }
    if (out.size() + kMore.size() <= limit) cut = out.size();
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

}  // namespace espalier
