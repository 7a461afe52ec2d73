#include "host/readers/yaml_to_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <set>
#include <streambuf>
#include <utility>

#include <fmt/format.h>
#include <simdjson.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "host/model/excerpt.hpp"
#include "host/readers/json_text.hpp"
#include "host/readers/long_scalars.hpp"
#include "host/readers/syntax_error.hpp"

namespace espalier {
namespace {

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<std::string> BooleanJson(std::string_view text) {
  if (IsOneOf(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    return "true";
  }
  if (IsOneOf(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) {
    return "false";
  }
  return std::nullopt;
}

// Decimal, 0x, 0o or 0 (octal) and 0b, with an optional sign.
std::optional<std::string> IntegerJson(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = text[1];
    if (mark == 'x' || mark == 'X') base = 16;
    if (mark == 'b' || mark == 'B') base = 2;
    if (mark == 'o' || mark == 'O' || (mark >= '0' && mark <= '9')) base = 8;
    if (base != 10) text.remove_prefix(mark >= '0' && mark <= '9' ? 1 : 2);
  }
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (!negative) return std::to_string(number);
  if (number > std::uint64_t{1} << 63) return std::nullopt;  // a float
  return fmt::format("-{}", number);
}

// [-+]? ( digits [. digits*] | . digits ) [ e [-+] digits ]
std::optional<std::string> FloatJson(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view unsigned_text = text.substr(text.starts_with('-') ? 1 : 0);
  if (unsigned_text.empty() ||
      !((unsigned_text[0] >= '0' && unsigned_text[0] <= '9') || unsigned_text[0] == '.')) {
    return std::nullopt;  // from_chars would take "inf" and "nan"
  }
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return fmt::format("{}", number);
}

// A plain (unquoted) scalar by YAML 1.1.
std::string PlainJson(const std::string& text) {
  if (auto json = BooleanJson(text)) return *json;
  if (!text.empty() && std::string_view("+-.0123456789").find(text[0]) != std::string_view::npos) {
    std::string digits = text;
    std::erase(digits, '_');
    if (auto json = IntegerJson(digits)) return *json;
    if (auto json = FloatJson(digits)) return *json;
  }
  std::string json;
  AppendJsonString(json, text);
  return json;
}

constexpr const char* kStopped = "reading was stopped";

constexpr std::string_view kStandardTag = "tag:yaml.org,2002:";  // written as `!!`

bool IsNullWord(std::string_view text) { return IsOneOf(text, {"", "~", "null", "Null", "NULL"}); }

// Returns whether the JSON of a plain scalar is what its tag says; an integer is a float, too.
bool IsOfType(std::string_view json, std::string_view type) {
  if (json == "null") return type == "null";
  if (json == "true" || json == "false") return type == "bool";
  if (json.starts_with('"')) return false;
  const bool is_integer = json.find_first_of(".eE") == json.npos;
  return type == "float" || (type == "int" && is_integer);
}

// A text as the stream that the YAML parser reads. The parser keeps up to 250 bytes for each byte
// between what it reports and how far it has read, which is far where brackets open and never
// close.
class TextBuffer : public std::streambuf {
 public:
  TextBuffer(std::string_view text, WorkBudget& budget) : budget_(budget) {
    char* begin = const_cast<char*>(text.data());  // nothing writes to it
    setg(begin, begin, begin + text.size());
  }

  // Notes that all that was read so far has been reported, last what begins at `mark`.
  void Reported(const YAML::Mark& mark) {
    reported_ = gptr();
    reported_mark_ = mark;
  }

 protected:
  std::streamsize xsgetn(char* to, std::streamsize count) override {
    constexpr std::ptrdiff_t kMostAhead = std::ptrdiff_t{2} << 20;
    constexpr std::int64_t kBytesOfAByteAhead = 250;
    const std::ptrdiff_t ahead = gptr() - std::max<const char*>(reported_, eback());
    if (ahead > most_ahead_) {
      budget_.Charge(kBytesOfAByteAhead * (ahead - most_ahead_));
      most_ahead_ = ahead;
    }
    // Not before the first event: the parser's constructor reads, and leaks when that throws.
    if (!budget_.MayContinue() && reported_ != nullptr) {
      throw YAML::Exception(YAML::Mark::null_mark(), kStopped);
    }
    if (ahead > kMostAhead) {
      throw YAML::Exception(reported_mark_,
                            "behind this, a scalar, a comment or brackets within brackets are "
                            "longer than 2 MiB");
    }
    return std::streambuf::xsgetn(to, count);
  }

 private:
  WorkBudget& budget_;
  const char* reported_ = nullptr;
  YAML::Mark reported_mark_;  // the beginning of the text at first
  std::ptrdiff_t most_ahead_ = 0;
};

constexpr std::string_view kNoMapping =
    "a merge key (<<) has a value that is neither a mapping nor a list of mappings";
constexpr std::string_view kEndInQuotes = "illegal EOF in scalar";  // as the parser says it

std::string SyntaxErrorAt(std::string_view text, const YAML::Mark& mark, std::string_view problem) {
  if (mark.is_null()) return std::string(problem);
  return YamlSyntaxError(text, static_cast<std::size_t>(std::max(mark.pos, 0)), problem);
}

// Writes JSON text while the YAML parser reports what it sees. After the first error the rest is
// ignored.
class JsonWriter : public YAML::EventHandler {
 public:
  // `scalars` are what names in the text stand for; null: nothing.
  JsonWriter(std::string_view text, TextBuffer& input, LongScalars* scalars, std::size_t most_bytes,
             std::size_t most_events, WorkBudget& budget)
      : text_(text),
        input_(input),
        scalars_(scalars),
        most_bytes_(most_bytes),
        events_left_(most_events),
        budget_(budget) {}

  const std::string& error() const { return error_; }
  // The parser takes the end of the text for the end of a quoted scalar.
  void CheckLastQuote() {
    const auto at = static_cast<std::size_t>(std::max(last_scalar_.pos, 0));
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return;
    if (FindOpenQuote(text_, at) == at) Fail(last_scalar_, kEndInQuotes);
  }
  std::vector<std::string> TakeDocuments() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    CountEvent(mark);
    json_.clear();
  }
  void OnDocumentEnd() override {
    bytes_before_ += json_.size() + sizeof(std::string);
    if (!json_.empty() && json_ != "null") documents_.push_back(std::move(json_));
    json_.clear();
    anchored_.clear();
    bytes_of_anchors_ = 0;
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    CountEvent(mark);
    Scalar(mark, anchor, "null", "null");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    CountEvent(mark);
    if (!BeginValue(mark, false)) return;
    const auto it = anchored_.find(anchor);
    if (it == anchored_.end()) return Fail(mark, "an alias refers to the value that it is part of");
    Append(mark, it->second);
    EndValue();
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CountEvent(mark);
    last_scalar_ = mark;
    if (tag == "?") {
      if (value == "<<" && IsKey()) return BeginMerge(mark);
      return Scalar(mark, anchor, value, PlainJson(value));
    }
    if (tag.starts_with(kStandardTag)) {
      const std::string_view type = std::string_view(tag).substr(kStandardTag.size());
      if (IsOneOf(type, {"int", "float", "bool", "null"})) {
        const std::string json = IsNullWord(value) ? "null" : PlainJson(value);
        if (IsOfType(json, type)) return Scalar(mark, anchor, value, json);
        return Fail(mark, fmt::format("{} is no !!{}", Excerpt(value), type));
      }
    }
    const auto whole = scalars_ != nullptr ? scalars_->Find(value) : std::nullopt;
    const std::string& text = whole ? *whole : value;
    std::string quoted;
    AppendJsonString(quoted, text);
    Scalar(mark, anchor, text, quoted);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    CountEvent(mark);
    Open(mark, anchor, '[', false);
  }
  void OnSequenceEnd() override { Close(']'); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    CountEvent(mark);
    Open(mark, anchor, '{', true);
  }
  void OnMapEnd() override { Close('}'); }

 private:
  struct Container {
    bool is_map;
    bool expects_key;
    bool empty;
    YAML::anchor_t anchor;
    std::size_t start;  // offset of its text
    YAML::Mark mark;
    bool merging = false;             // the next value is that of a merge key, and begins at
    std::size_t merge_start = 0;      // this offset
    std::vector<std::string> merged;  // values of merge keys
  };

  void Fail(const YAML::Mark& mark, std::string_view problem) {
    if (error_.empty()) error_ = SyntaxErrorAt(text_, mark, problem);
  }

  void Append(const YAML::Mark& mark, std::string_view text) {
    if (HasRoom(mark, text.size())) json_ += text;
  }

  bool HasRoom(const YAML::Mark& mark, std::size_t bytes) {
    if (Bytes() + bytes <= most_bytes_) return true;
    Fail(mark, fmt::format("{} too large, more than {}",
                           has_anchors_ ? "the aliases make the document" : "the document is",
                           BytesText(static_cast<std::int64_t>(most_bytes_))));
    return false;
  }

  // Returns the size of all that was made so far.
  std::size_t Bytes() const { return bytes_before_ + bytes_of_anchors_ + json_.size(); }

  // Charges what was made since the last call, a good deal at a time.
  void ChargeMade() {
    constexpr std::size_t kStep = std::size_t{1} << 16;
    if (Bytes() < charged_ + kStep) return;
    budget_.Charge(static_cast<std::int64_t>(Bytes() - charged_));
    charged_ = Bytes();
  }

  // Some malformed texts keep the parser busy for ever without moving on. Every event of a sound
  // text has a character of its own, so running out of them tells. Only throwing stops the parser.
  void CountEvent(const YAML::Mark& mark) {
    input_.Reported(mark);
    HasRoom(mark, 0);
    ChargeMade();
    if (!budget_.MayContinue()) throw YAML::ParserException(mark, kStopped);
    if (events_left_-- == 0)
      throw YAML::ParserException(mark, "the text is malformed from here on");
  }

  // Writes the separator before a value; false when there is nothing to write.
  bool BeginValue(const YAML::Mark& mark, bool scalar) {
    if (!error_.empty()) return false;
    if (containers_.empty()) return true;
    Container& parent = containers_.back();
    if (parent.merging) return true;
    if (parent.is_map && !parent.expects_key) {
      json_ += ':';
    } else if (!parent.empty) {
      json_ += ',';
    }
    if (parent.is_map && parent.expects_key && !scalar) {
      Fail(mark, "a key is not a plain text");
      return false;
    }
    return true;
  }

  void EndValue() {
    if (containers_.empty()) return;
    Container& parent = containers_.back();
    if (parent.merging) return EndMerge(parent);
    parent.empty = false;
    if (parent.is_map) parent.expects_key = !parent.expects_key;
  }

  void Scalar(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& text,
              const std::string& json) {
    if (!simdjson::validate_utf8(text)) return Fail(mark, "it is not UTF-8");
    if (!BeginValue(mark, true)) return;
    const std::size_t start = json_.size();
    if (IsKey()) {
      AppendJsonString(json_, text);
    } else {
      Append(mark, json);
    }
    Remember(mark, anchor, start);
    EndValue();
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, char bracket, bool is_map) {
    if (!BeginValue(mark, false)) return;
    containers_.push_back({is_map, is_map, true, anchor, json_.size(), mark, false, 0, {}});
    json_ += bracket;
  }

  void Close(char bracket) {
    if (!error_.empty() || containers_.empty()) return;
    const Container closed = std::move(containers_.back());
    containers_.pop_back();
    if (!closed.merged.empty()) AppendMerged(closed);
    json_ += bracket;
    Remember(closed.mark, closed.anchor, closed.start);
    EndValue();
  }

  bool IsKey() const { return !containers_.empty() && containers_.back().expects_key; }

  void BeginMerge(const YAML::Mark& mark) {
    if (!error_.empty()) return;
    Container& parent = containers_.back();
    parent.merging = true;
    parent.merge_start = json_.size();
    parent.expects_key = false;
    last_merge_ = mark;
  }

  void EndMerge(Container& parent) {
    parent.merging = false;
    parent.expects_key = true;
    parent.merged.push_back(json_.substr(parent.merge_start));
    json_.resize(parent.merge_start);
    bytes_of_anchors_ += parent.merged.back().size();
    const std::string& merged = parent.merged.back();
    if (!merged.starts_with('{') && !merged.starts_with('[')) Fail(last_merge_, kNoMapping);
  }

  // Ends a mapping with what it merges: its own keys stay, and of two values of a merge key, or two
  // such keys, the earlier one does.
  void AppendMerged(const Container& map) {
    std::set<std::string> keys;
    const auto visit = [&](simdjson::ondemand::object object, bool own) {
      for (auto field : object) {
        const std::string key(std::string_view(field.unescaped_key()));
        const std::string_view value = simdjson::to_json_string(field.value());
        if (!keys.insert(key).second || own) continue;
        if (!HasRoom(map.mark, key.size() + value.size())) return;
        if (keys.size() > 1) json_ += ',';
        AppendJsonString(json_, key);
        json_ += ':';
        json_ += value;
      }
    };
    try {
      simdjson::ondemand::parser parser;
      const simdjson::padded_string own(json_.substr(map.start) + '}');
      auto text = parser.iterate(own);
      visit(text.get_object(), true);
      for (const std::string& value : map.merged) {
        const simdjson::padded_string padded(value);
        auto merged = parser.iterate(padded);
        if (value.starts_with('{')) {
          visit(merged.get_object(), false);
          continue;
        }
        for (auto element : merged.get_array()) visit(element.get_object(), false);
      }
    } catch (const simdjson::simdjson_error&) {
      Fail(map.mark, kNoMapping);
    }
  }

  void Remember(const YAML::Mark& mark, YAML::anchor_t anchor, std::size_t start) {
    constexpr std::size_t kBytesOfAnAnchor = 256;  // here and in the parser
    if (anchor == 0) return;
    has_anchors_ = true;
    const std::size_t bytes = json_.size() - start + kBytesOfAnAnchor;
    if (!HasRoom(mark, bytes)) return;
    bytes_of_anchors_ += bytes;
    anchored_[anchor] = json_.substr(start);
  }

  std::string_view text_;
  TextBuffer& input_;
  LongScalars* scalars_;
  std::size_t most_bytes_;
  std::size_t events_left_;
  WorkBudget& budget_;
  std::size_t charged_ = 0;
  bool has_anchors_ = false;
  std::size_t bytes_before_ = 0;  // of the documents before
  std::size_t bytes_of_anchors_ = 0;
  std::string json_;
  std::string error_;
  std::vector<std::string> documents_;
  std::vector<Container> containers_;
  YAML::Mark last_scalar_;
  YAML::Mark last_merge_;
  std::map<YAML::anchor_t, std::string> anchored_;
};

// `text` has `bytes` with all that the names in it stand for.
Result<std::vector<std::string>> Convert(std::string_view text, LongScalars* scalars,
                                         std::size_t bytes, std::size_t most_bytes,
                                         WorkBudget& budget) {
  constexpr std::size_t kSpare = std::size_t{16} << 20;
  TextBuffer input(text, budget);
  JsonWriter writer(text, input, scalars, std::min(most_bytes, kSpare + 8 * bytes), 16 + 2 * bytes,
                    budget);
  try {
    std::istream stream(&input);
    YAML::Parser parser(stream);
    while (writer.error().empty() && parser.HandleNextDocument(writer)) {
    }
    writer.CheckLastQuote();
  } catch (const YAML::DeepRecursion& error) {
    return BadInput(SyntaxErrorAt(text, error.mark, "it is nested too deeply"));
  } catch (const YAML::Exception& error) {
    return BadInput(SyntaxErrorAt(text, error.mark, error.msg));
  } catch (const std::exception& error) {
    return BadInput(error.what());
  }
  if (!writer.error().empty()) return BadInput(writer.error());
  return writer.TakeDocuments();
}

}  // namespace

Result<std::vector<std::string>> YamlToJson(std::string_view text, std::size_t most_bytes,
                                            std::size_t long_scalar, WorkBudget& budget) {
  budget.Charge(static_cast<std::int64_t>(text.size()));  // without its long scalars
  LongScalars scalars(text, long_scalar);
  if (!scalars.empty()) {
    auto documents = Convert(scalars.text(), &scalars, text.size(), most_bytes, budget);
    if (documents && scalars.AllFound()) return documents;
  }
  return Convert(text, nullptr, text.size(), most_bytes, budget);
}

}  // namespace espalier
