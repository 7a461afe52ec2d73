// Nodes in the order of their paths: by the value of the coarsest level, then of the next one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/model/work_budget.hpp"
#include "host/packing/node_columns.hpp"

namespace espalier {

// The labels of the levels, coarsest first. Nodes have them all.
using PathLabels = std::span<const LabelColumn* const>;

bool PathLess(PathLabels levels, std::int32_t node_a, std::int32_t node_b);

// Sorts nodes by their paths; the order of nodes with the same path is kept. Once `budget` is
// stopped the order is arbitrary.
void SortByPath(PathLabels levels, std::vector<std::int32_t>& nodes,
                const WorkBudget& budget = WorkBudget::Unlimited());

}  // namespace espalier
