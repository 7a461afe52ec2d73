// Writes tables of left-aligned columns for the terminal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "service/cli/terminal/terminal.hpp"

namespace espalier {

// A cell of one or more lines; the other columns stay blank beside its further lines.
struct TableCell {
  TableCell(const char* line) : lines{line} {}             // NOLINT: to write rows in braces
  TableCell(std::string line) : lines{std::move(line)} {}  // NOLINT
  TableCell(std::vector<std::string> text) : lines(std::move(text)) {}  // NOLINT
  TableCell(std::string line, Color cell_color) : lines{std::move(line)}, color(cell_color) {}
  std::vector<std::string> lines;
  Color color = Color::kNone;
};
using TableRow = std::vector<TableCell>;

// Returns a table whose rows have as many cells as `header`; it ends in a newline. Column widths
// follow the longest cell, counted in bytes (names in Kubernetes are ASCII). The last column is not
// padded; the others show excerpts. Control characters are escaped.
//
// When the style has a width, the last column is wrapped to fit, to at most a few lines, the last
// of which then ends in "…". When the other columns leave it too little room, it goes below them;
// when they alone are too wide, the widest are cut.
std::string RenderTable(const TableRow& header, std::vector<TableRow> rows,
                        const TextStyle& style = {});

// Returns `text` in lines of at most `width` characters, split after blanks, slashes and commas if
// there are any.
std::vector<std::string> WrapText(std::string_view text, std::size_t width);

}  // namespace espalier
