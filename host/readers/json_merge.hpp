// Makes JSON of other JSON, such as what a controller makes of a template.
#pragma once

#include <string>

#include "host/readers/json_fields.hpp"

namespace espalier {

// Returns `base` with the patch applied, as a strategic merge patch of Kubernetes does: objects are
// merged, lists of objects with names by those names, all else is replaced, and null removes.
std::string MergedJson(JsonValue base, JsonValue patch);

// A JSON text and its value, which lives as long as this object.
class MadeJson {
 public:
  // A text that is no JSON, or nested too deeply, gives null.
  explicit MadeJson(const std::string& text);
  MadeJson(const MadeJson&) = delete;
  MadeJson& operator=(const MadeJson&) = delete;

  JsonValue value() const { return value_; }

 private:
  simdjson::dom::parser parser_;
  JsonValue value_;
};

}  // namespace espalier
