// Section 25: nested gangs, decided naively: everything is counted anew whenever it is asked for,
// and the searches are plain recursions over the tree.
#pragma once

#include <vector>

#include "host/engine/nested_request.hpp"
#include "tests/oracle/oracle.hpp"

namespace espalier::oracle {

// Most alternatives that the two searches of R25.7 try.
struct NestedBounds {
  int trials = 1 << 16;
  int sibling_trials = 1 << 10;
};

// Answers sound requests (R25.15) in order; what is placed is in use for the next. Reasons are left
// empty.
std::vector<NestedAnswer> AnswerNested(const OracleInput& input,
                                       const std::vector<NestedRequest>& requests,
                                       NestedProfile profile, const NestedBounds& bounds = {});

}  // namespace espalier::oracle
