// What standard output is: how wide, and whether it shows colors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

namespace espalier {

enum class Color { kNone, kGood, kBad, kDim, kHeading };

// How text for people is laid out. A plain one is for files and programs.
struct TextStyle {
  std::size_t width = 0;  // columns; 0: no limit
  bool colors = false;

  // Returns `text` in a color, where there are colors.
  std::string Paint(std::string_view text, Color color) const;
};

// Declares --color; `when` is auto, always or never and outlives the parse.
void AddColorOption(CLI::App& command, std::string& when);

// Returns the style of standard output: as wide as COLUMNS says, else as the terminal is, or
// without a limit for `wide`; with `when` auto, in color on a terminal that has colors, unless
// NO_COLOR is set.
TextStyle OutputStyle(const std::string& when, bool wide);

}  // namespace espalier
