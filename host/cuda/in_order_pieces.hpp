// Spreads the tree of a state over thread blocks that decide in order together.
#pragma once

#include <cstdint>
#include <vector>

#include "host/cuda/device.hpp"
#include "kernels/cuda/in_order_blocks.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The pieces of a tree, one for each thread block.
struct InOrderPieces {
  std::int32_t unit_level = 0;
  std::vector<std::int32_t> unit_begin;  // as in DecideInOrderArgs; empty: it does not fit
  InOrderExtent extent;
};

// Spreads a tree, which is on the host, over as many blocks as the device runs together. A block
// has whole domains of a level as coarse as possible, as long as no block has much more than
// others. `columns` are those of the capacity.
InOrderPieces SpreadInOrder(const TreeView& tree, std::int32_t columns, const Device& device);

}  // namespace espalier
