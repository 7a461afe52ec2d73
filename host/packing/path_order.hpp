// Nodes in the order of their paths: by the value of the coarsest level, then of the next one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/packing/node_columns.hpp"

namespace espalier {

// The labels of the levels, coarsest first. Nodes have them all.
using PathLabels = std::span<const LabelColumn* const>;

bool PathLess(PathLabels levels, std::int32_t node_a, std::int32_t node_b);

// Nodes of one path stay in the order they have.
void SortByPath(PathLabels levels, std::vector<std::int32_t>& nodes);

}  // namespace espalier
