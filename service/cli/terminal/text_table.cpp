#include "service/cli/terminal/text_table.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

constexpr std::size_t kGap = 2;         // blanks between columns
constexpr std::size_t kLeastRoom = 32;  // for the last column beside the others
constexpr std::size_t kIndent = 4;      // of the last column below the others
constexpr std::size_t kLeastColumn = 8;
constexpr std::size_t kMostLinesOfCell = 6;  // of a wrapped cell
constexpr const char* kMore = "…";

using Widths = std::vector<std::size_t>;

// Makes the cells such that they may be printed.
void Escape(TableRow& row) {
  for (TableCell& cell : row) {
    for (std::string& line : cell.lines) {
      line = &cell == &row.back() ? EscapeControls(line) : Excerpt(line);
    }
  }
}

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// The bytes of the first `characters` characters.
std::size_t BytesOf(std::string_view text, std::size_t characters) {
  std::size_t bytes = 0;
  while (bytes < text.size() && (!StartsCharacter(text[bytes]) || characters-- > 0)) ++bytes;
  return bytes;
}

std::string Shortened(const std::string& text, std::size_t width) {
  const std::size_t bytes = BytesOf(text, width);
  if (bytes >= text.size()) return text;
  return text.substr(0, BytesOf(text, width - 1)) + kMore;
}

// The widths of the columns, and the place of the last one.
struct Layout {
  Widths widths;          // of all columns but the last
  std::size_t room = 0;   // of the last one; 0: no limit
  bool is_below = false;  // the last one has lines of its own
};

Widths NaturalWidths(const TableRow& header, const std::vector<TableRow>& rows) {
  Widths widths(header.size() - 1, 0);
  const auto widen = [&](const TableRow& row) {
    for (std::size_t column = 0; column < widths.size(); ++column) {
      for (const std::string& line : row[column].lines) {
        widths[column] = std::max(widths[column], line.size());
      }
    }
  };
  widen(header);
  std::ranges::for_each(rows, widen);
  return widths;
}

Layout LayOut(Widths widths, std::size_t width) {
  if (width == 0 || widths.empty()) return {std::move(widths), width};
  const auto sum = [&] { return std::accumulate(widths.begin(), widths.end(), std::size_t{0}); };
  const std::size_t others = sum() + kGap * widths.size();
  if (others + kLeastRoom <= width) return {std::move(widths), width - others};
  const std::size_t gaps = kGap * (widths.size() - 1);
  while (sum() + gaps > width) {
    const auto widest = std::ranges::max_element(widths);
    if (*widest <= kLeastColumn) break;
    --*widest;
  }
  return {std::move(widths), width > kIndent + kLeastColumn ? width - kIndent : 0, true};
}

// The lines of the last column, in its room.
std::vector<std::string> Wrapped(const TableCell& cell, std::size_t room) {
  if (room == 0) return cell.lines;
  std::vector<std::string> lines;
  for (const std::string& line : cell.lines)
    std::ranges::move(WrapText(line, room), std::back_inserter(lines));
  if (lines.size() <= kMostLinesOfCell || lines.size() <= cell.lines.size()) return lines;
  lines.resize(std::max(kMostLinesOfCell, cell.lines.size()));
  lines.back() = Shortened(lines.back() + std::string(room, ' '), room);
  lines.back().erase(lines.back().find_last_not_of(" …") + 1);
  lines.back() += kMore;
  return lines;
}

class Printer {
 public:
  Printer(Layout layout, const TextStyle& style) : layout_(std::move(layout)), style_(style) {}

  void Add(const TableRow& row) {
    const std::vector<std::string> last = Wrapped(row.back(), layout_.room);
    std::size_t height = layout_.is_below ? 1 : std::max<std::size_t>(1, last.size());
    for (std::size_t column = 0; column + 1 < row.size(); ++column) {
      height = std::max(height, row[column].lines.size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string out;
      for (std::size_t column = 0; column + 1 < row.size(); ++column) {
        const std::vector<std::string>& lines = row[column].lines;
        AppendCell(out, line < lines.size() ? lines[line] : "", row[column].color,
                   layout_.widths[column]);
      }
      if (!layout_.is_below && line < last.size())
        out += style_.Paint(last[line], row.back().color);
      EndLine(out);
    }
    if (!layout_.is_below) return;
    for (const std::string& line : last) {
      EndLine(std::string(line.empty() ? 0 : kIndent, ' ') + style_.Paint(line, row.back().color));
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  void AppendCell(std::string& out, const std::string& line, Color color, std::size_t width) const {
    const std::string shown = layout_.room == 0 ? line : Shortened(line, width);
    const std::size_t characters =
        static_cast<std::size_t>(std::ranges::count_if(shown, StartsCharacter));
    out += style_.Paint(shown, color);
    out.append(width - std::min(width, characters) + kGap, ' ');
  }

  void EndLine(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    if (!line.empty() || !layout_.is_below) text_ += line + "\n";
  }

  Layout layout_;
  const TextStyle& style_;
  std::string text_;
};

}  // namespace

std::vector<std::string> WrapText(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  width = std::max<std::size_t>(width, 1);
  while (true) {
    std::size_t end = BytesOf(text, width);
    if (end >= text.size()) break;
    // A blank may stand beyond the end, as it is not printed there.
    const std::size_t blank = text.rfind(' ', end);
    const std::size_t mark = text.substr(0, end).find_last_of("/,");
    if (blank != text.npos && blank > 0) {
      end = blank;
    } else if (mark != text.npos && mark > 0) {
      end = mark + 1;
    }
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string RenderTable(const TableRow& header, std::vector<TableRow> rows,
                        const TextStyle& style) {
  std::ranges::for_each(rows, Escape);
  TableRow heading = header;
  for (TableCell& cell : heading) cell.color = Color::kHeading;
  Printer printer(LayOut(NaturalWidths(header, rows), style.width), style);
  printer.Add(heading);
  for (const TableRow& row : rows) printer.Add(row);
  return printer.Take();
}

}  // namespace espalier
