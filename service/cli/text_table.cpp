#include "service/cli/text_table.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// Makes the cells such that they may be printed.
void Escape(TableRow& row) {
  for (TableCell& cell : row) {
    for (std::string& line : cell.lines) {
      line = &cell == &row.back() ? EscapeControls(line) : Excerpt(line);
    }
  }
}

void AppendRow(std::string& text, const TableRow& row, const std::vector<std::size_t>& widths) {
  std::size_t height = 1;
  for (const TableCell& cell : row) height = std::max(height, cell.lines.size());
  for (std::size_t line = 0; line < height; ++line) {
    std::string out;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::vector<std::string>& lines = row[column].lines;
      fmt::format_to(std::back_inserter(out), "{:<{}}  ", line < lines.size() ? lines[line] : "",
                     widths[column]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
}

}  // namespace

std::string RenderTable(const TableRow& header, std::vector<TableRow> rows) {
  std::ranges::for_each(rows, Escape);
  std::vector<std::size_t> widths(header.size(), 0);
  const auto widen = [&](const TableRow& row) {
    for (std::size_t column = 0; column + 1 < row.size(); ++column) {
      for (const std::string& line : row[column].lines) {
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
