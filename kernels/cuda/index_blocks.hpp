// The work of one block of the kernel that indexes rolled-up counts; see count_blocks.hpp.
#pragma once

#include <cstdint>

#include "kernels/cuda/count_blocks.hpp"
#include "kernels/cuda/grid.hpp"
#include "kernels/decisions/level_index.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Indexes the levels above the leaves for those of the shapes [0, shape_count) whose counts keep
// indices; every level is rolled up.
struct IndexArgs {
  TreeView tree;
  const ResidentShape* const* shapes = nullptr;
  std::int32_t shape_count = 0;
  bool operator==(const IndexArgs&) const = default;
};

inline Grid GridOf(const IndexArgs& args) { return {args.tree.lowest(), args.shape_count}; }

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const IndexArgs& args, Grid block) {
  const CountsView& counts = args.shapes[block.y]->counts;
  if (counts.index == nullptr) return;
  IndexLevel(team, counts, DomainsOf(args.tree, block.x), counts.index[block.x]);
}

}  // namespace espalier
