// Work on the columns of a large cluster, shared among the cores.
#pragma once

#include <cstddef>
#include <functional>

namespace espalier {

// Calls body(part) for each part in [0, parts), in any order, and in parallel when `entries`, the
// total, is worth it. A waiting thread runs nothing else meanwhile, so callers may hold locks.
void ParallelFor(std::size_t parts, std::size_t entries,
                 const std::function<void(std::size_t part)>& body);

}  // namespace espalier
