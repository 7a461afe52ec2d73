// Memory one evaluation needs, allocated once per team and reused.
#pragma once

#include <cstdint>

#include "kernels/decisions/lists.hpp"
#include "kernels/views.hpp"

namespace espalier {

// One way to have used some domains of a list (R14.12): `pods` still to place after taking `domain`
// on top of the way `previous`. Ways with equal domains used and leaders left form a list that
// ascends in `pods`.
struct SelectionState {
  Count pods = 0;
  std::int32_t domain = -1;    // position in the list
  std::int32_t previous = -1;  // state it extends; -1: none
  std::int32_t next = -1;      // next state of the same list
};

// W is the largest number of domains of one level, D the number of all domains.
struct Workspace {
  Candidate* level = nullptr;   // [W] domains of one level, being ordered
  Candidate* chosen = nullptr;  // [W] the set CHOOSE or balanced placement answered
  Share* current = nullptr;     // [W] shares of the current level of the descent
  Share* next = nullptr;        // [W] shares of the level below
  CountsView leaves;            // [D] of those that are counted when they are reached
  // Only where balanced placement is on; null otherwise.
  CountsView trial;                  // [D] pruned clone of the set under trial (R14.2)
  CountsView best;                   // [D] pruned clone of the best set so far
  double* entropy = nullptr;         // [W] by position in a list (R14.15)
  Count* terms = nullptr;            // [W] pods of one domain's children, being sorted
  SelectionState* states = nullptr;  // [state_capacity] (R14.12)
  std::int32_t state_capacity = 0;
  std::int32_t* state_heads = nullptr;  // [2 * (W + 1)]
};

}  // namespace espalier
