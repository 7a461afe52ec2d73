// The fields that objects have in Kubernetes and Kueue, as far as decisions depend on them.
#pragma once

#include <span>
#include <string_view>

#include "host/readers/object_index.hpp"

namespace espalier {

// The fields an object may have. The fields inside a field are those of its value, or of the items
// of its list.
struct KnownFields {
  struct Field {
    std::string_view name;
    const KnownFields* inside = nullptr;  // null: not known, or not an object
  };
  const Field* fields = nullptr;
  std::size_t count = 0;
  bool labels = false;      // any key is allowed; `fields` are those of Kueue
  bool all_matter = false;  // an unknown field could change where pods go

  std::span<const Field> all() const { return {fields, count}; }
};

KnownFields KnownFieldsOf(ObjectKind kind);

// Returns the fields of a PodTemplateSpec.
KnownFields KnownTemplateFields();

// Returns the apiVersions that are read, separated by blanks.
std::string_view KnownVersionsOf(ObjectKind kind);

}  // namespace espalier
