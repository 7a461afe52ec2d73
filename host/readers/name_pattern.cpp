#include "host/readers/name_pattern.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "host/model/parse_integer.hpp"

namespace espalier {

// Compiles from the back to the front: each part is given the step that follows it.
class NamePatternCompiler {
 public:
  explicit NamePatternCompiler(std::string_view text) : text_(text) {}

  std::optional<NamePattern> Compile() {
    const std::unique_ptr<Part> part = Alternatives(0);
    if (part == nullptr || at_ != text_.size()) return std::nullopt;
    NamePattern pattern;
    pattern.steps_.push_back({});
    const auto first = Emit(*part, 0, pattern.steps_);
    if (!first) return std::nullopt;
    pattern.first_ = *first;
    return pattern;
  }

 private:
  using Step = NamePattern::Step;

  static constexpr int kMostDepth = 50;
  static constexpr std::size_t kMostSteps = 4096;
  static constexpr int kUnbounded = -1;

  struct Part {
    enum class Kind { kChars, kBegin, kEnd, kSequence, kAlternatives, kRepeat };
    Kind kind = Kind::kSequence;
    std::bitset<256> chars = {};
    std::vector<std::unique_ptr<Part>> inner = {};
    int least = 0;  // of kRepeat
    int most = 0;
  };
  using PartPointer = std::unique_ptr<Part>;

  static PartPointer Make(Part::Kind kind) {
    auto part = std::make_unique<Part>();
    part->kind = kind;
    return part;
  }

  bool More() const { return at_ < text_.size(); }
  bool Take(char c) {
    if (!More() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // Null: it is wrong, as below.
  PartPointer Alternatives(int depth) {
    if (depth > kMostDepth) return nullptr;
    PartPointer all = Make(Part::Kind::kAlternatives);
    do {
      PartPointer sequence = Make(Part::Kind::kSequence);
      while (More() && text_[at_] != '|' && text_[at_] != ')') {
        PartPointer part = Repeated(depth);
        if (part == nullptr) return nullptr;
        sequence->inner.push_back(std::move(part));
      }
      all->inner.push_back(std::move(sequence));
    } while (Take('|'));
    return all;
  }

  PartPointer Repeated(int depth) {
    PartPointer part = One(depth);
    while (part != nullptr && More()) {
      int least = 0;
      int most = kUnbounded;
      if (Take('+')) {
        least = 1;
      } else if (Take('?')) {
        most = 1;
      } else if (More() && text_[at_] == '{') {
        if (!Bounds(least, most)) return nullptr;
      } else if (!Take('*')) {
        break;
      }
      Take('?');  // which of several matches it is does not matter
      PartPointer repeat = Make(Part::Kind::kRepeat);
      repeat->least = least;
      repeat->most = most;
      repeat->inner.push_back(std::move(part));
      part = std::move(repeat);
    }
    return part;
  }

  bool Bounds(int& least, int& most) {
    constexpr int kMostTimes = 1000;
    const std::size_t end = text_.find('}', at_);
    if (end == text_.npos) return false;
    const std::string_view bounds = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    const std::size_t comma = bounds.find(',');
    const auto first = ParseInteger<int>(bounds.substr(0, comma));
    if (!first || *first < 0 || *first > kMostTimes) return false;
    least = most = *first;
    if (comma == bounds.npos) return true;
    most = kUnbounded;
    if (comma + 1 == bounds.size()) return true;
    const auto last = ParseInteger<int>(bounds.substr(comma + 1));
    if (!last || *last < least || *last > kMostTimes) return false;
    most = *last;
    return true;
  }

  PartPointer One(int depth) {
    const char c = text_[at_++];
    if (c == '^') return Make(Part::Kind::kBegin);
    if (c == '$') return Make(Part::Kind::kEnd);
    if (c == '(') {
      if (Take('?') && !Take(':')) return nullptr;
      PartPointer inner = Alternatives(depth + 1);
      return inner != nullptr && Take(')') ? std::move(inner) : nullptr;
    }
    if (c == '*' || c == '+' || c == '?' || c == '{') return nullptr;
    PartPointer part = Make(Part::Kind::kChars);
    if (c == '.') {
      part->chars.set();
    } else if (c == '[') {
      if (!Class(part->chars)) return nullptr;
    } else if (c == '\\') {
      if (!Escape(part->chars)) return nullptr;
    } else {
      part->chars.set(static_cast<unsigned char>(c));
    }
    return part;
  }

  bool Escape(std::bitset<256>& chars) {
    if (!More()) return false;
    const auto c = static_cast<unsigned char>(text_[at_++]);
    for (int i = 0; i < 128; ++i) {
      if ((c == 'd' && std::isdigit(i) != 0) || (c == 's' && std::isspace(i) != 0) ||
          (c == 'w' && (std::isalnum(i) != 0 || i == '_'))) {
        chars.set(static_cast<std::size_t>(i));
      }
    }
    if (std::isalnum(c) != 0) return c == 'd' || c == 's' || c == 'w';
    chars.set(c);
    return true;
  }

  bool Class(std::bitset<256>& chars) {
    const bool negated = Take('^');
    for (bool first = true; More() && (first || text_[at_] != ']'); first = false) {
      if (Take('\\')) {
        if (!Escape(chars)) return false;
        continue;
      }
      const auto from = static_cast<unsigned char>(text_[at_++]);
      auto to = from;
      if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        to = static_cast<unsigned char>(text_[at_ + 1]);
        at_ += 2;
      }
      if (from == '[' || to < from) return false;  // [:alpha:] is not read
      for (std::size_t i = from; i <= to; ++i) chars.set(i);
    }
    if (negated) chars.flip();
    return Take(']');
  }

  static std::optional<std::size_t> Add(Step step, std::vector<Step>& steps) {
    if (steps.size() == kMostSteps) return std::nullopt;
    steps.push_back(step);
    return steps.size() - 1;
  }

  // Adds the steps of a part. Returns the first; nullopt where there are too many.
  static std::optional<std::size_t> Emit(const Part& part, std::size_t next,
                                         std::vector<Step>& steps) {
    switch (part.kind) {
      case Part::Kind::kChars:
        return Add({Step::Kind::kOneOf, part.chars, next}, steps);
      case Part::Kind::kBegin:
        return Add({Step::Kind::kBegin, {}, next}, steps);
      case Part::Kind::kEnd:
        return Add({Step::Kind::kEnd, {}, next}, steps);
      case Part::Kind::kSequence: {
        std::optional<std::size_t> first = next;
        for (auto one = part.inner.rbegin(); one != part.inner.rend() && first; ++one) {
          first = Emit(**one, *first, steps);
        }
        return first;
      }
      case Part::Kind::kAlternatives: {
        std::optional<std::size_t> first;
        for (const PartPointer& one : part.inner) {
          const auto begin = Emit(*one, next, steps);
          if (!begin) return std::nullopt;
          first = first ? Add({Step::Kind::kSplit, {}, *first, *begin}, steps) : begin;
          if (!first) return std::nullopt;
        }
        return first;
      }
      case Part::Kind::kRepeat:
        return EmitRepeat(part, next, steps);
    }
    return std::nullopt;
  }

  static std::optional<std::size_t> EmitRepeat(const Part& part, std::size_t next,
                                               std::vector<Step>& steps) {
    const Part& inner = *part.inner.front();
    std::optional<std::size_t> first = next;
    if (part.most == kUnbounded) {
      const auto loop = Add({Step::Kind::kSplit, {}, next, next}, steps);
      const auto begin = loop ? Emit(inner, *loop, steps) : loop;
      if (!begin) return std::nullopt;
      steps[*loop].other = *begin;
      first = loop;
    }
    for (int i = part.least; i < part.most && first; ++i) {
      const auto begin = Emit(inner, *first, steps);
      first = begin ? Add({Step::Kind::kSplit, {}, *begin, next}, steps) : begin;
    }
    for (int i = 0; i < part.least && first; ++i) first = Emit(inner, *first, steps);
    return first;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<NamePattern> NamePattern::Parse(std::string_view text) {
  return NamePatternCompiler(text).Compile();
}

// Marks the steps that are reached from one without a character.
void NamePattern::Follow(std::size_t step, std::size_t at, std::size_t size,
                         std::vector<bool>& reached) const {
  std::vector<std::size_t> open = {step};
  while (!open.empty()) {
    const std::size_t next = open.back();
    open.pop_back();
    if (reached[next]) continue;
    reached[next] = true;
    const Step& here = steps_[next];
    if (here.kind == Step::Kind::kSplit) {
      open.push_back(here.next);
      open.push_back(here.other);
    } else if ((here.kind == Step::Kind::kBegin && at == 0) ||
               (here.kind == Step::Kind::kEnd && at == size)) {
      open.push_back(here.next);
    }
  }
}

bool NamePattern::Matches(std::string_view name) const {
  std::vector<bool> reached(steps_.size());
  for (std::size_t at = 0; at <= name.size(); ++at) {
    Follow(first_, at, name.size(), reached);  // a match may begin anywhere
    if (reached[0]) return true;
    if (at == name.size()) break;
    std::vector<bool> after(steps_.size());
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const bool takes = reached[s] && steps_[s].kind == Step::Kind::kOneOf &&
                         steps_[s].chars[static_cast<unsigned char>(name[at])];
      if (takes) Follow(steps_[s].next, at + 1, name.size(), after);
    }
    reached = std::move(after);
  }
  return false;
}

}  // namespace espalier
