// Adds up what a flavor has and what is in use of it, in all and by level.
#pragma once

#include <cstdint>
#include <vector>

#include "host/model/work_budget.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

// The amounts of a flavor's available nodes, by resource as FlavorSnapshot::resources() has them.
struct FlavorUse {
  struct Level {
    std::int64_t domains = 0;         // with an available node
    std::int64_t unused_domains = 0;  // in which nothing is used
    std::vector<Amount> most_free;    // what one domain has free, by resource; 0 or more
  };
  std::vector<Amount> capacity;  // what pods outside of admitted workloads leave (R5.1)
  std::vector<Amount> used;      // by admitted workloads
  std::vector<Level> levels;     // coarsest first
};

// Returns the use of `flavor`. Once `budget`, which is charged for what is added up meanwhile, is
// stopped, the result is meaningless.
FlavorUse UseOf(const FlavorState& flavor, WorkBudget& budget);

}  // namespace espalier
