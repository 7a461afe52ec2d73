// Drops the fields that no reader uses, which are most of what a dump holds.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "host/readers/json_fields.hpp"

namespace espalier {

// The fields of an object, or of each item of a list, that no reader looks at.
class UnreadFields {
 public:
  struct Field;

  UnreadFields() = default;  // every field is read

  // Returns those of a Kubernetes object, by its kind.
  static UnreadFields Of(JsonValue object);

  // Returns whether no reader looks at the field.
  bool LeavesOut(std::string_view name, JsonValue value) const;

  // Returns those inside the value of a field that is not left out.
  UnreadFields Below(std::string_view name) const;

 private:
  explicit UnreadFields(std::span<const Field> fields) : fields_(fields) {}
  const Field* Find(std::string_view name) const;

  std::span<const Field> fields_;
};

// Appends a Kubernetes object as JSON text, without fields that no reader looks at. The rest is
// unchanged and in the same order, even where it is of a wrong type.
void AppendKeptFields(JsonValue object, std::string& json);

}  // namespace espalier
