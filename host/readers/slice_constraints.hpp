// Reads slice constraints from an annotation (R20.11).
#pragma once

#include <string_view>
#include <vector>

#include "host/model/result.hpp"
#include "host/model/topology.hpp"

namespace espalier {

// Reads a JSON array of objects with `topology` (text) and `size` (32-bit integer); an absent
// member is empty or 0. Error (kBadInput): anything else; the message does not quote the text.
Result<std::vector<SliceConstraint>> ParseSliceConstraints(std::string_view json);

}  // namespace espalier
