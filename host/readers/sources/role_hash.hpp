// Computes the name that Kueue gives to pods of a group that are alike.
#pragma once

#include <string>

#include "host/readers/json_fields.hpp"

namespace espalier {

// Returns the role hash of a PodSpec, as Kueue's webhook computes it: the first eight digits of the
// SHA-256 of what bears on admission, written as Go writes it. Limits count as requests that are
// missing, as the API server fills them in. Ignores what cannot be read.
std::string RoleHash(JsonValue pod_spec);

}  // namespace espalier
