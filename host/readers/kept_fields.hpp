// Drops the fields that no reader uses, which are most of what a dump holds.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/readers/json_fields.hpp"
#include "host/readers/known_fields.hpp"

namespace espalier {

// The fields of an object, or of each item of a list, that no reader looks at.
class UnreadFields {
 public:
  UnreadFields() = default;  // every field is read

  // Returns those of a Kubernetes object, by its kind.
  static UnreadFields Of(JsonValue object);

  // Returns those inside the value of a field; nullopt where no reader looks at the field.
  std::optional<UnreadFields> Inside(std::string_view name, JsonValue value) const;

 private:
  UnreadFields(const KnownFields& known, KnownFields::Unread in)
      : fields_(known.with_unread()), in_(in) {}

  std::span<const KnownFields::Field> fields_;
  KnownFields::Unread in_ = KnownFields::kNowhere;  // what the object is
};

// Appends a Kubernetes object as JSON text, without fields that no reader looks at. The rest is
// unchanged and in the same order, even where it is of a wrong type.
void AppendKeptFields(JsonValue object, std::string& json);

}  // namespace espalier
