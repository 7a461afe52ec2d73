// Finds the holds that lose a leaf when nodes, topologies or flavors change.
#pragma once

#include <string>
#include <vector>

#include "host/live/hold.hpp"
#include "host/live/indexed_input.hpp"
#include "host/live/state_delta.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// A hold of which some leaf has no node any more, whether available or not.
struct LostHold {
  std::string id;
  std::string flavor;
  std::string leaf;  // the first of them
  bool operator==(const LostHold&) const = default;
};

// Returns those of `holds` that a state of `input` cannot keep, by id.
std::vector<LostHold> HoldsLostIn(const ClusterStateInput& input, const Holds& holds);

// Returns those of the holds of `input` that it cannot keep after `delta`, by id. Takes time that
// grows with the nodes only where the last node of a held leaf may go.
std::vector<LostHold> HoldsLostBy(const StateDelta& delta, const IndexedInput& input);

}  // namespace espalier
