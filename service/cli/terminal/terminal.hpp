// Finds out how wide standard output is, and whether it shows colors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace espalier {

enum class Color { kNone, kGood, kBad, kDim, kHeading };

// The layout of text for people. The default is plain text for files and programs.
struct TextStyle {
  std::size_t width = 0;  // columns; 0: no limit
  bool colors = false;

  // Returns `text` in a color, or unchanged without colors.
  std::string Paint(std::string_view text, Color color) const;
};

// Declares --color; `when` is auto, always or never and must outlive the parse.
void AddColorOption(CLI::App& command, std::string& when);

// Returns the style of standard output. Its width is that of COLUMNS, else that of the terminal, or
// unlimited with `wide`. With `when` auto it has colors on a terminal that shows them, unless
// NO_COLOR is set.
TextStyle OutputStyle(const std::string& when, bool wide);

}  // namespace espalier
