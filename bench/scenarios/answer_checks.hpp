// Whether answers keep what every placement must keep, counted from the answers alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/engine/gang_batch.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

struct CheckInput {
  const FlavorState& before;  // the state that was asked
  bool in_order;              // each took its room from those after it, or each was on its own
  const FlavorState* after;   // what in order left behind; null: not compared
  std::span<const GangShape> shapes;
  std::span<const Gang> gangs;
  const GangAnswers& answers;
  bool pod_slots = true;  // held to as well; scheduling cycles do not recheck them (R21.3)
};

// What is wrong, a sentence each, the first few; empty when nothing is:
// * a placed gang has all its pods and its leader, one that is not placed has nothing;
// * no leaf gives more than it had left, nor was left with anything but what the answers leave;
// * all pods are in one domain of a required level, and whole slices in each domain of the slices'.
std::vector<std::string> CheckAnswers(const CheckInput& input);

}  // namespace espalier
