#include "service/cli/text_table.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

namespace espalier {
namespace {

std::vector<std::string> LinesOf(const std::string& cell) {
  std::vector<std::string> lines;
  std::istringstream stream(cell);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

void AppendRow(std::string& text, const TableRow& row, const std::vector<std::size_t>& widths) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (const std::string& cell : row) {
    cells.push_back(LinesOf(cell));
    height = std::max(height, cells.back().size());
  }
  for (std::size_t line = 0; line < height; ++line) {
    std::string out;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const bool present = line < cells[column].size();
      fmt::format_to(std::back_inserter(out), "{:<{}}  ", present ? cells[column][line] : "",
                     widths[column]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
}

}  // namespace

std::string RenderTable(const TableRow& header, const std::vector<TableRow>& rows) {
  std::vector<std::size_t> widths(header.size(), 0);
  const auto widen = [&](const TableRow& row) {
    for (std::size_t column = 0; column + 1 < row.size(); ++column) {
      for (const std::string& line : LinesOf(row[column])) {
        widths[column] = std::max(widths[column], line.size());
      }
    }
  };
  widen(header);
  std::for_each(rows.begin(), rows.end(), widen);

  std::string text;
  AppendRow(text, header, widths);
  for (const TableRow& row : rows) AppendRow(text, row, widths);
  return text;
}

}  // namespace espalier
