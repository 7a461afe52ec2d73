#include "service/cli/terminal/terminal.hpp"

#include <charconv>
#include <cstdlib>

#include <sys/ioctl.h>
#include <unistd.h>

namespace espalier {
namespace {

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::size_t Columns() {
  const std::string_view columns = Environment("COLUMNS");
  std::size_t width = 0;
  const auto [end, code] = std::from_chars(columns.begin(), columns.end(), width);
  if (code == std::errc{} && end == columns.end()) return width;
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool TerminalHasColors() {
  const std::string_view terminal = Environment("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && Environment("NO_COLOR").empty() && !terminal.empty() &&
         terminal != "dumb";
}

const char* CodeOf(Color color) {
  switch (color) {
    case Color::kGood:
      return "\x1b[32m";
    case Color::kBad:
      return "\x1b[31m";
    case Color::kDim:
      return "\x1b[2m";
    case Color::kHeading:
      return "\x1b[1m";
    case Color::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string TextStyle::Paint(std::string_view text, Color color) const {
  if (!colors || color == Color::kNone || text.empty()) return std::string(text);
  return CodeOf(color) + std::string(text) + "\x1b[0m";
}

void AddColorOption(CLI::App& command, std::string& when) {
  command
      .add_option("--color", when,
                  "auto: on terminals that have colors, unless NO_COLOR is set; always; never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

TextStyle OutputStyle(const std::string& when, bool wide) {
  return {wide ? 0 : Columns(), when == "always" || (when == "auto" && TerminalHasColors())};
}

}  // namespace espalier
