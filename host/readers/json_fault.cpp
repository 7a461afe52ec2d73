// Says where and why a text is no JSON, which the fast parser does not.
#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <simdjson.h>

#include "host/model/ascii.hpp"
#include "host/model/excerpt.hpp"
#include "host/readers/syntax_error.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostDepth = 1024;                     // as deep as the parser goes
constexpr std::string_view kDelimiters = " \t\r\n,:{}[]\"";  // what may follow a word

bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Reads one value from its first to its last byte, without recursion.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t begin) : text_(text), at_(begin) {}

  std::optional<JsonFault> Find() {
    do {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      if (fault_ || (wanted_ == Wanted::kEnd && at_ == text_.size())) break;
      if (at_ == text_.size()) {
        FailAtEnd();
      } else {
        Step(text_[at_]);
      }
    } while (!fault_);
    return fault_;
  }

 private:
  enum class Wanted { kValue, kValueOrEnd, kKey, kKeyOrEnd, kColon, kCommaOrEnd, kEnd };

  void Fail(std::size_t offset, std::string problem) {
    if (!fault_) fault_ = JsonFault{offset, std::move(problem)};
  }

  void FailAtEnd() {
    if (open_.empty()) return Fail(at_, "the text ends here; a value is missing");
    const std::size_t begin = open_.back();
    Fail(at_,
         fmt::format("the text ends here, but the {} of line {} is still open: it is cut off, or "
                     "a {} is missing",
                     text_[begin], 1 + std::count(text_.begin(), text_.begin() + begin, '\n'),
                     Closing()));
  }

  char Closing() const { return text_[open_.back()] == '{' ? '}' : ']'; }

  // A text of quotes, for messages, of what stands at `at_`.
  std::string Here() const {
    const std::size_t quote = text_.find_first_of("\"\n", at_ + 1);
    if (text_[at_] == '"' && quote != text_.npos && text_[quote] == '"') {
      return Excerpt(text_.substr(at_, quote + 1 - at_), 40);
    }
    std::size_t end = text_.find_first_of(kDelimiters, at_);
    end = end == at_ ? at_ + 1 : std::min(end, text_.size());
    return Excerpt(text_.substr(at_, end - at_), 40);
  }

  void Step(char c) {
    if (text_.substr(at_).starts_with(kByteOrderMark)) {
      return Fail(at_, kByteOrderMarkInside);
    }
    if (c == '#' || text_.substr(at_, 2) == "//" || text_.substr(at_, 2) == "/*") {
      return Fail(at_, "a comment stands here; JSON has none");
    }
    switch (wanted_) {
      case Wanted::kValue:
      case Wanted::kValueOrEnd:
        return ReadValue(c);
      case Wanted::kKey:
      case Wanted::kKeyOrEnd:
        return ReadKey(c);
      case Wanted::kColon:
        if (c != ':') return Fail(at_, fmt::format("a colon is missing before {}", Here()));
        ++at_;
        wanted_ = Wanted::kValue;
        return;
      case Wanted::kCommaOrEnd:
        return ReadSeparator(c);
      case Wanted::kEnd:
        return Fail(at_, fmt::format("the value ends before {}", Here()));
    }
  }

  void ReadValue(char c) {
    if (c == ']' && wanted_ == Wanted::kValueOrEnd) return Close(c);
    if (c == ']' && !open_.empty() && text_[open_.back()] == '[') {
      return Fail(at_, "there is a comma too many before ]");
    }
    if (c == '{' || c == '[') return Open(c);
    if (c == '"') return ReadString();
    if (c == '-' || IsDigit(c)) return ReadNumber();
    for (const std::string_view word : {"true", "false", "null"}) {
      // Looks at one byte behind the word only, as any text that is cut off gets here.
      const std::string_view rest = text_.substr(at_, word.size() + 1);
      if (!rest.starts_with(word)) continue;
      if (rest.size() > word.size() && kDelimiters.find(rest.back()) == kDelimiters.npos) continue;
      at_ += word.size();
      return EndValue();
    }
    if (c == ',' || c == '}' || c == ']' || c == ':') {
      return Fail(at_, fmt::format("a value is missing before {}", c));
    }
    Fail(at_, fmt::format("{} is not a JSON value; want a text in double quotes, a number, true, "
                          "false, null, an object or a list",
                          Here()));
  }

  void ReadKey(char c) {
    if (c == '}' && wanted_ == Wanted::kKeyOrEnd) return Close(c);
    if (c == '}') return Fail(at_, "there is a comma too many before }");
    if (c != '"')
      return Fail(at_, fmt::format("{} is not a key; want a text in double quotes", Here()));
    ReadString();
    wanted_ = Wanted::kColon;
  }

  void ReadSeparator(char c) {
    if (c == '}' || c == ']') return Close(c);
    if (c != ',') {
      return Fail(at_, fmt::format("a comma or {} is missing before {}", Closing(), Here()));
    }
    ++at_;
    wanted_ = text_[open_.back()] == '{' ? Wanted::kKey : Wanted::kValue;
  }

  void Open(char c) {
    if (open_.size() >= kMostDepth) return Fail(at_, "it is nested too deeply");
    open_.push_back(at_++);
    wanted_ = c == '{' ? Wanted::kKeyOrEnd : Wanted::kValueOrEnd;
  }

  void Close(char c) {
    if (c != Closing()) {
      return Fail(at_, fmt::format("{} stands here, but a {} is open; want {}", c,
                                   text_[open_.back()], Closing()));
    }
    open_.pop_back();
    ++at_;
    EndValue();
  }

  void EndValue() { wanted_ = open_.empty() ? Wanted::kEnd : Wanted::kCommaOrEnd; }

  void ReadNumber() {
    const std::size_t begin = at_;
    const auto digits = [&] {
      const std::size_t first = at_;
      while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
      return at_ > first;
    };
    const auto next_is = [&](std::string_view any) {
      return at_ < text_.size() && any.find(text_[at_]) != any.npos;
    };
    if (next_is("-")) ++at_;
    const bool zero = next_is("0");
    bool sound = digits() && !(zero && at_ - begin > (text_[begin] == '-' ? 2u : 1u));
    if (next_is(".")) sound = (++at_, digits()) && sound;
    if (next_is("eE")) {
      ++at_;
      if (next_is("+-")) ++at_;
      sound = digits() && sound;
    }
    if (!sound || (at_ < text_.size() && !next_is(kDelimiters))) {
      at_ = begin;
      return Fail(begin, fmt::format("{} is not a number", Here()));
    }
    EndValue();
  }

  void ReadString() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '\n' || byte == '\r') {
        return Fail(begin, "a text begins here and has no closing quote on its line");
      }
      if (byte < 0x20) {
        return Fail(at_, fmt::format("a control character stands in a text; want \\u{:04x}",
                                     static_cast<unsigned>(byte)));
      }
      if (byte == '\\') {
        if (!SkipEscape()) return Fail(at_, fmt::format("{} is not an escape of JSON", Escape()));
      } else if (!SkipCharacter()) {
        return Fail(at_, fmt::format("the byte 0x{:02X} stands here, which is not UTF-8",
                                     static_cast<unsigned>(byte)));
      }
    }
    if (at_ >= text_.size()) return Fail(begin, "a text begins here and has no closing quote");
    ++at_;
    EndValue();
  }

  std::string Escape() const { return Excerpt(text_.substr(at_, 2)); }

  // The number after \u at `at`, where there is one.
  std::optional<unsigned> HexEscape(std::size_t at) const {
    const std::string_view escape = text_.substr(std::min(at, text_.size()), 6);
    if (escape.size() < 6 || !escape.starts_with("\\u") ||
        !std::all_of(escape.begin() + 2, escape.end(), IsHex)) {
      return std::nullopt;
    }
    return static_cast<unsigned>(std::stoul(std::string(escape.substr(2)), nullptr, 16));
  }

  bool SkipEscape() {
    const char kind = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (kind != 'u') {
      if (std::string_view("\"\\/bfnrt").find(kind) == std::string_view::npos) return false;
      at_ += 2;
      return true;
    }
    const auto first = HexEscape(at_);
    if (!first) return false;
    if (*first < 0xD800 || *first > 0xDFFF) {
      at_ += 6;
      return true;
    }
    const auto second = HexEscape(at_ + 6);  // two halves of one character
    if (*first > 0xDBFF || !second || *second < 0xDC00 || *second > 0xDFFF) return false;
    at_ += 12;
    return true;
  }

  bool SkipCharacter() {
    const auto first = static_cast<unsigned char>(text_[at_]);
    const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (at_ + size > text_.size()) return false;
    if (size > 1 && !simdjson::validate_utf8(text_.data() + at_, size)) return false;
    at_ += size;
    return true;
  }

  std::string_view text_;
  std::size_t at_;
  Wanted wanted_ = Wanted::kValue;
  std::vector<std::size_t> open_;  // where the brackets are that nothing closed yet
  std::optional<JsonFault> fault_;
};

}  // namespace

std::optional<JsonFault> FindJsonFault(std::string_view text, std::size_t begin) {
  return Scanner(text, begin).Find();
}

}  // namespace espalier
