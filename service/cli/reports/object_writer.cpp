#include "service/cli/reports/object_writer.hpp"

#include <iterator>

#include <fmt/format.h>
#include <yaml-cpp/emitter.h>

namespace espalier {
namespace {

enum class JsonForm { kIndented, kOneLine };

class JsonWriter final : public ObjectWriter {
 public:
  explicit JsonWriter(JsonForm form) : form_(form) {}

  void BeginMap() override { Begin('{'); }
  void EndMap() override { End('}'); }
  void BeginList() override { Begin('['); }
  void EndList() override { End(']'); }
  void Key(std::string_view name) override {
    Separate();
    AppendQuoted(name);
    text_ += ": ";
    after_key_ = true;
  }
  void Value(std::string_view text) override {
    Separate();
    AppendQuoted(text);
    empty_ = false;
  }
  void Value(std::int64_t number) override {
    Separate();
    fmt::format_to(std::back_inserter(text_), "{}", number);
    empty_ = false;
  }
  void Flag(bool value) override {
    Separate();
    text_ += value ? "true" : "false";
    empty_ = false;
  }
  std::string Finish() override { return text_ + "\n"; }

 private:
  void Begin(char bracket) {
    Separate();
    text_ += bracket;
    ++depth_;
    empty_ = true;
  }
  void End(char bracket) {
    --depth_;
    if (!empty_) NewLine();
    text_ += bracket;
    empty_ = false;
  }
  // Writes what stands between the last token and the next one.
  void Separate() {
    if (after_key_) {
      after_key_ = false;
      return;
    }
    if (!empty_) text_ += ',';
    if (depth_ > 0) NewLine();
  }
  void NewLine() {
    if (form_ == JsonForm::kOneLine) {
      if (text_.back() == ',') text_ += ' ';
      return;
    }
    text_ += '\n';
    text_.append(2 * depth_, ' ');
  }
  void AppendQuoted(std::string_view text) {
    text_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        fmt::format_to(std::back_inserter(text_), "\\u{:04x}", static_cast<unsigned char>(c));
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }

  JsonForm form_;
  std::string text_;
  std::size_t depth_ = 0;
  bool empty_ = true;  // nothing was written at this depth yet
  bool after_key_ = false;
};

class YamlWriter final : public ObjectWriter {
 public:
  void BeginMap() override { emitter_ << YAML::BeginMap; }
  void EndMap() override { emitter_ << YAML::EndMap; }
  void BeginList() override { emitter_ << YAML::BeginSeq; }
  void EndList() override { emitter_ << YAML::EndSeq; }
  void Key(std::string_view name) override { emitter_ << YAML::Key << std::string(name); }
  // Always quoted: a value such as 1e3, no or 2026-11-20 stays a string.
  void Value(std::string_view text) override {
    emitter_ << YAML::DoubleQuoted << std::string(text);
  }
  void Value(std::int64_t number) override { emitter_ << number; }
  void Flag(bool value) override { emitter_ << value; }
  std::string Finish() override { return std::string(emitter_.c_str(), emitter_.size()) + "\n"; }

 private:
  YAML::Emitter emitter_;
};

}  // namespace

std::unique_ptr<ObjectWriter> MakeJsonWriter() {
  return std::make_unique<JsonWriter>(JsonForm::kIndented);
}
std::unique_ptr<ObjectWriter> MakeJsonLineWriter() {
  return std::make_unique<JsonWriter>(JsonForm::kOneLine);
}
std::unique_ptr<ObjectWriter> MakeYamlWriter() { return std::make_unique<YamlWriter>(); }

}  // namespace espalier
