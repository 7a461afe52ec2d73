// A table of left-aligned columns for the terminal.
#pragma once

#include <string>
#include <vector>

namespace espalier {

// Column widths follow the longest cell, counted in bytes (names in Kubernetes are ASCII). A cell
// may hold several lines; the other columns of the further lines stay blank. The last column is
// not padded. Every row has as many cells as `header`. Ends in a newline.
using TableRow = std::vector<std::string>;
std::string RenderTable(const TableRow& header, const std::vector<TableRow>& rows);

}  // namespace espalier
