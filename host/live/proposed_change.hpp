// A change to a cluster that is only supposed.
#pragma once

#include <string>
#include <vector>

#include "host/live/state_delta.hpp"

namespace espalier {

struct ProposedChange {
  std::vector<std::string> drained = {};  // nodes that are cordoned, by name
  // Objects and workloads that come, change or go, each once; has no `set_tas_usage`. Its
  // `set_non_tas_usage` comes on top of what pods use of a node; amounts below 0 are taken away,
  // no more than there is.
  StateDelta delta = {};

  bool empty() const { return drained.empty() && delta == StateDelta(); }
};

}  // namespace espalier
