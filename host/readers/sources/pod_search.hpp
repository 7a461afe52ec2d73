// Finds the pods in objects of unknown kinds.
#pragma once

#include <string>
#include <string_view>

#include "host/readers/json_fields.hpp"

namespace espalier {

// Returns the path of the first containers in the object, such as "spec.tasks[0].template.spec";
// empty when it has none, or when its kind only keeps templates that others use.
std::string FindPods(JsonValue object, std::string_view kind);

// Returns whether a value of any object holds containers.
bool HoldsPods(JsonValue value);

}  // namespace espalier
