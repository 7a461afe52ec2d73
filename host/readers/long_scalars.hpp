// Takes long scalars out of a YAML text, as the parser needs a fraction of a microsecond for each
// character.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// Holds the long scalars of a YAML text, most of what is in annotations, and the text with a short
// name in the place of each.
//
// A text that looks like a scalar may be the middle of another one. So whoever parses the text asks
// for each scalar's value, and for AllFound at the end: all names were met as scalars then, each at
// its place, and as a parser gets from one to the next by what is between them, the original would
// have been parsed the same way.
class LongScalars {
 public:
  // Replaces scalars of at least `shortest` bytes: single-quoted ones up to the end of their line,
  // and the first line of literal ones (`|`). `text` must outlive the object.
  LongScalars(std::string_view text, std::size_t shortest);

  bool empty() const { return scalars_.empty(); }
  // Returns the text with names in place of long scalars.
  const std::string& text() const { return text_; }

  // Returns the value of a scalar that is quoted or literal in text(), if it is a name or begins
  // with a line that is one.
  std::optional<std::string> Find(std::string_view scalar);
  // Returns whether each name was found once.
  bool AllFound() const { return found_ == scalars_.size(); }

 private:
  struct Scalar {
    std::string_view content;
    bool is_quoted = false;
    bool found = false;
  };
  void Cut(std::string_view content, bool is_quoted, std::string_view before);

  std::string text_;
  std::vector<Scalar> scalars_;
  std::size_t found_ = 0;
};

}  // namespace espalier
