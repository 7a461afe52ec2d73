// Work on the columns of a large cluster, shared among the cores.
#pragma once

#include <cstddef>

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace espalier {

// Calls body(part) for each part in [0, parts), in any order, and in parallel when `entries`, the
// total, is worth it. A waiting thread runs nothing else meanwhile, so callers may hold locks.
template <class Body>
void ParallelFor(std::size_t parts, std::size_t entries, const Body& body) {
  constexpr std::size_t kWorthSharing = std::size_t{1} << 15;
  if (entries < kWorthSharing) {
    for (std::size_t part = 0; part < parts; ++part) body(part);
    return;
  }
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(std::size_t{0}, parts, body); });
}

}  // namespace espalier
