#include "host/readers/json_documents.hpp"

#include <cstddef>

namespace espalier {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The offset behind the value that starts at `at`, which is no space.
std::size_t EndOfValue(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth <= 1) return i + 1;
      --depth;
    } else if (depth == 0 && IsSpace(c)) {
      return i;
    }
  }
  return text.size();
}

}  // namespace

std::vector<std::string_view> SplitJsonDocuments(std::string_view text) {
  std::vector<std::string_view> documents;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && IsSpace(text[at])) ++at;
    if (at >= text.size()) return documents;
    const std::size_t end = EndOfValue(text, at);
    documents.push_back(text.substr(at, end - at));
    at = end;
  }
}

}  // namespace espalier
