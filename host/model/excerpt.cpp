#include "host/model/excerpt.hpp"

#include <cstdint>
#include <iterator>

#include <fmt/format.h>

namespace espalier {
namespace {

constexpr std::string_view kMore = "...";

// Returns the number of bytes of the UTF-8 character that `text` begins with; 0 when it begins with
// a control character or with no UTF-8. `text` is not empty.
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
  return code < kLeast[size - 2] || code > 0x10ffff || surrogate ? 0 : size;
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
