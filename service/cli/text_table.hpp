// A table of left-aligned columns for the terminal.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace espalier {

// Column widths follow the longest cell, counted in bytes (names in Kubernetes are ASCII). A cell
// may hold several lines; the other columns of the further lines stay blank. The last column is
// not padded; the others show excerpts. Control characters are escaped. Every row has as many cells
// as `header`. Ends in a newline.
struct TableCell {
  TableCell(const char* line) : lines{line} {}             // NOLINT: to write rows in braces
  TableCell(std::string line) : lines{std::move(line)} {}  // NOLINT
  TableCell(std::vector<std::string> text) : lines(std::move(text)) {}  // NOLINT
  std::vector<std::string> lines;
};
using TableRow = std::vector<TableCell>;
std::string RenderTable(const TableRow& header, std::vector<TableRow> rows);

}  // namespace espalier
