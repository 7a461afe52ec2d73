// Finds duplicate keys, and keys that look like misspelled ones.
#pragma once

#include "host/readers/json_fields.hpp"
#include "host/readers/object_index.hpp"

namespace espalier {

// Reports every duplicate key of an object within `object` as an error, as readers of Kubernetes
// keep the last one and others the first. Warns of keys that are unknown but close to a known one,
// in the parts of an object that decisions depend on, and of an apiVersion that its kind does not
// have. Keys that are close to none may be newer than the known ones.
void CheckKeys(ObjectKind kind, JsonValue object, const ReadContext& context);

// Reports duplicate keys alone, of an object of a kind whose keys are not known.
void CheckRepeatedKeys(JsonValue object, const ReadContext& context);

// Warns of keys as CheckKeys does, for a PodTemplateSpec in an object of another kind.
void CheckTemplateKeys(JsonValue pod_template, const ReadContext& context);

// Warns when the object's apiVersion is none of `versions`, which are separated by blanks.
void CheckVersion(std::string_view kind, std::string_view versions, JsonValue object,
                  const ReadContext& context);

}  // namespace espalier
