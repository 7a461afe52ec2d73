// Matches names against regular expressions in time that is bounded by the product of their
// lengths.
#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

// A regular expression of literals, `.`, classes, groups, alternatives, `* + ?`, `{m,n}`, anchors
// and the escapes \d, \w, \s and of punctuation. It matches where a part of the name does, as in
// Go.
class NamePattern {
 public:
  // Returns nullopt for an expression that is wrong, or uses more than the above or too much of it.
  static std::optional<NamePattern> Parse(std::string_view text);

  bool Matches(std::string_view name) const;

 private:
  friend class NamePatternCompiler;

  struct Step {
    enum class Kind { kOneOf, kSplit, kBegin, kEnd, kMatch };
    Kind kind = Kind::kMatch;
    std::bitset<256> chars = {};  // of kOneOf
    std::size_t next = 0;
    std::size_t other = 0;  // of kSplit
  };

  void Follow(std::size_t step, std::size_t at, std::size_t size, std::vector<bool>& reached) const;

  std::vector<Step> steps_;
  std::size_t first_ = 0;
};

}  // namespace espalier
