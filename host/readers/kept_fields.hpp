// Objects without the fields that nobody reads here, which are most of what a dump holds.
#pragma once

#include <string>

#include "host/readers/json_fields.hpp"

namespace espalier {

// Appends a Kubernetes object as JSON text, without fields that no reader looks at. What is kept is
// as it was and in the same order, also where it is of a wrong type.
void AppendKeptFields(JsonValue object, std::string& json);

}  // namespace espalier
