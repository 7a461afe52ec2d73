// Checks that answers keep what every placement must keep, counted from the answers alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/engine/gang_batch.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

struct CheckInput {
  const FlavorState& before;  // the state that was answered on
  bool in_order;              // placements were booked in order, not answered independently
  const FlavorState* after;   // the state after placements in order; null: not compared
  std::span<const GangShape> shapes;
  std::span<const GangRow> gangs;
  const GangAnswers& answers;
  bool pod_slots = true;  // also checked; scheduling cycles do not recheck them (R21.3)
};

// Returns the first few errors, a sentence each; empty when there are none:
// * a placed gang has all its pods and its leader, one that is not placed has nothing;
// * no leaf gives more than it had left, and it is left with exactly what the answers leave;
// * all pods are in one domain of a required level, and whole slices in each domain of the slices'.
std::vector<std::string> CheckAnswers(const CheckInput& input);

}  // namespace espalier
