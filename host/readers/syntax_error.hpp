// Makes syntax errors that show the place: line, column and the line itself.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace espalier {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
inline constexpr const char* kByteOrderMarkInside =
    "a byte-order mark stands here, as where two files were joined";

// Returns "line 4, column 8: PROBLEM" for the byte `offset` of a text, which may be its end; then,
// on two more lines, an excerpt of the line and a caret below the place. Columns count characters.
std::string SyntaxError(std::string_view text, std::size_t offset, std::string_view problem);

// Why a text is not JSON, and the first byte that shows it.
struct JsonFault {
  std::size_t offset = 0;
  std::string problem;
};

// Returns the first fault of a text that holds one JSON value from the byte `begin` to its end;
// nullopt when it has none.
std::optional<JsonFault> FindJsonFault(std::string_view text, std::size_t begin = 0);

// Returns the offset, from the token at `at` on, of a quoted YAML text that is never closed;
// nullopt when all are.
std::optional<std::size_t> FindOpenQuote(std::string_view text, std::size_t at);

// Returns SyntaxError for what the YAML parser reported at `offset`, with a better text where the
// cause is known: a tab that indents, a quote that is never closed.
std::string YamlSyntaxError(std::string_view text, std::size_t offset, std::string_view problem);

}  // namespace espalier
