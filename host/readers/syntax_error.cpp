#include "host/readers/syntax_error.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostBefore = 60;  // characters of the line that are shown before the place
constexpr std::size_t kMostAfter = 40;   // bytes after it

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t Characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), StartsCharacter));
}

// The part of `line` that is shown with the byte `at`, and a caret below it.
std::string Picture(std::string_view line, std::size_t at) {
  std::size_t begin = at;
  for (std::size_t characters = 0; begin > 0 && characters < kMostBefore;) {
    if (StartsCharacter(line[--begin])) ++characters;
  }
  std::size_t end = std::min(line.size(), at + kMostAfter);
  while (end < line.size() && !StartsCharacter(line[end])) ++end;
  const auto shown = [&](std::size_t from, std::size_t to) {
    std::string text(line.substr(from, to - from));
    std::ranges::replace(text, '\t', ' ');  // one column wide, so that the caret stands right
    return EscapeControls(text);
  };
  const std::string_view cut = begin > 0 ? "..." : "";
  const std::string before = shown(begin, at);
  return fmt::format("\n  {}{}{}{}\n  {:{}}^", cut, before, shown(at, end),
                     end < line.size() ? "..." : "", "", cut.size() + Characters(before));
}

// Returns what the parser means.
std::string_view InPlainWords(std::string_view problem) {
  if (problem == "end of map flow not found") return "nothing closes a { before this";
  if (problem == "end of sequence flow not found") return "nothing closes a [ before this";
  if (problem == "end of map not found" || problem == "end of sequence not found") {
    return "the indentation fits none of the lines above";
  }
  return problem;
}

// The first tab among the blanks at the start of the line of `offset` or of a line just above it.
std::optional<std::size_t> IndentingTab(std::string_view text, std::size_t offset) {
  std::size_t end = std::min(offset, text.size());
  for (int lines = 0; lines < 2; ++lines) {
    const std::size_t newline = end == 0 ? text.npos : text.rfind('\n', end - 1);
    const std::size_t begin = newline == text.npos ? 0 : newline + 1;
    const std::size_t word = std::min(text.find_first_not_of(" \t", begin), text.size());
    const std::size_t tab = text.find('\t', begin);
    if (tab < word) return tab;
    if (begin == 0) break;
    end = begin - 1;
  }
  return std::nullopt;
}

}  // namespace

std::string SyntaxError(std::string_view text, std::size_t offset, std::string_view problem) {
  offset = std::min(offset, text.size());
  // Text that is missing at the end is missing behind the last word.
  if (offset == text.size()) offset = text.find_last_not_of(" \t\r\n") + 1;  // npos + 1 is 0
  const std::size_t newline = offset == 0 ? text.npos : text.rfind('\n', offset - 1);
  const std::size_t begin = newline == text.npos ? 0 : newline + 1;
  std::string_view line = text.substr(begin, text.find('\n', offset) - begin);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t at = std::min(offset - begin, line.size());
  return fmt::format(
      "line {}, column {}: {}{}",
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'),
      1 + Characters(line.substr(0, at)), problem, Picture(line, at));
}

std::optional<std::size_t> FindOpenQuote(std::string_view text, std::size_t at) {
  constexpr std::string_view kBeforeToken = " \t\r\n[{,";
  while ((at = text.find_first_of("\"'#", at)) != text.npos) {
    const bool begins = at == 0 || kBeforeToken.find(text[at - 1]) != text.npos;
    const char mark = text[at];
    if (!begins) {
      ++at;
    } else if (mark == '#') {
      at = text.find('\n', at);
    } else {
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != mark)
        end += mark == '"' && text[end] == '\\' ? 2 : 1;
      if (end >= text.size()) return at;
      at = end + 1;
    }
  }
  return std::nullopt;
}

std::string YamlSyntaxError(std::string_view text, std::size_t offset, std::string_view problem) {
  if (problem.find("EOF in scalar") != problem.npos) {
    if (const auto quote = FindOpenQuote(text, 0)) {
      return SyntaxError(text, *quote, "a quoted text begins here and never ends");
    }
  }
  if (const auto tab = IndentingTab(text, offset)) {
    return SyntaxError(text, *tab, "a tab indents this line; YAML wants spaces");
  }
  return SyntaxError(text, offset, InPlainWords(problem));
}

}  // namespace espalier
