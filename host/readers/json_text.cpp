#include "host/readers/json_text.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace espalier {

void AppendJsonString(std::string& json, std::string_view text) {
  const auto is_special = [](char c) {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
  };
  json += '"';
  auto at = text.begin();
  while (true) {
    const auto special = std::find_if(at, text.end(), is_special);
    json.append(at, special);
    if (special == text.end()) break;
    if (*special == '"' || *special == '\\') {
      json += '\\';
      json += *special;
    } else {
      fmt::format_to(std::back_inserter(json), "\\u{:04x}", static_cast<unsigned>(*special));
    }
    at = special + 1;
  }
  json += '"';
}

}  // namespace espalier
