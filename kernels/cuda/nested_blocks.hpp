// What the one block of the kernel of nested gangs does; see count_blocks.hpp.
#pragma once

#include "kernels/cuda/grid.hpp"
#include "kernels/nested/place_nested.hpp"

namespace espalier {

// One request; all its arrays lie on the device.
struct NestedArgs {
  const NestedRun* run = nullptr;
  NestedResult* result = nullptr;
  bool operator==(const NestedArgs&) const = default;
};

inline Grid GridOf(const NestedArgs& /*args*/) { return {1, 1}; }

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const NestedArgs& args, Grid /*block*/) {
  const NestedResult result = PlaceNested(team, *args.run);
  if (team.rank() == 0) *args.result = result;
}

}  // namespace espalier
