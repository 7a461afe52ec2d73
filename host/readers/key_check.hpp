// Keys that are there twice, and keys that look like misspelled ones.
#pragma once

#include "host/readers/json_fields.hpp"
#include "host/readers/object_index.hpp"

namespace espalier {

// Reports every key that an object within `object` has twice as an error: readers of Kubernetes
// keep the last one, others the first. Warns of keys that are unknown but near a known one, in the
// parts of an object that decisions depend on, and of an apiVersion that its kind does not have.
// Keys that are near none may be newer than what is known here.
void CheckKeys(ObjectKind kind, JsonValue object, const ReadContext& context);

}  // namespace espalier
