// Writes a tree of maps and lists as JSON or YAML through one set of calls.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace espalier {

// The interface of the writers. The caller must pair begins with ends and write a key before each
// value of a map.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;

  virtual void BeginMap() = 0;
  virtual void EndMap() = 0;
  virtual void BeginList() = 0;
  virtual void EndList() = 0;
  virtual void Key(std::string_view name) = 0;
  virtual void Value(std::string_view text) = 0;
  virtual void Value(std::int64_t number) = 0;
  virtual void Flag(bool value) = 0;  // true or false
  // Writes a list of texts.
  void Value(std::span<const std::string> texts) {
    BeginList();
    for (const std::string& text : texts) Value(std::string_view(text));
    EndList();
  }

  // Returns what was written, with a newline at the end.
  virtual std::string Finish() = 0;

  // Writes a key and its value.
  template <class T>
  void Field(std::string_view name, const T& value) {
    Key(name);
    Value(value);
  }
};

std::unique_ptr<ObjectWriter> MakeJsonWriter();      // indented by two spaces
std::unique_ptr<ObjectWriter> MakeJsonLineWriter();  // on one line
std::unique_ptr<ObjectWriter> MakeYamlWriter();

}  // namespace espalier
