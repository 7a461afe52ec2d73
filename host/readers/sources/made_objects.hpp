// Makes JSON objects of parts of others, for what is to be read as if it had been written so.
#pragma once

#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "host/readers/json_merge.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Writes one JSON object, field by field.
class ObjectText {
 public:
  void Add(std::string_view name, JsonValue value);
  void Add(std::string_view name, const std::string& json) { AddJson(name, json); }
  void AddJson(std::string_view name, std::string_view json);
  void AddText(std::string_view name, std::string_view text);
  // Adds the fields of another object, but for those of these names.
  void AddFields(JsonValue object, std::initializer_list<std::string_view> but = {});

  bool empty() const { return json_.size() == 1; }
  // Ends the object, which must not be written on.
  std::string Take();

 private:
  std::string json_ = "{";
};

// Returns the JSON list of items that are JSON.
std::string ListText(const std::vector<std::string>& items);

// Made objects, each of which stays valid as long as this.
using MadeObjects = std::deque<MadeJson>;

// The context of an object whose findings are dropped, as those of a made object are: what it is
// made of is read for them.
class QuietContext {
 public:
  explicit QuietContext(const SourceContext& of);
  const SourceContext& operator*() const { return context_; }
  const SourceContext* operator->() const { return &context_; }

 private:
  Diagnostics dropped_;
  ReadContext read_;
  SourceContext context_;
};

}  // namespace espalier
