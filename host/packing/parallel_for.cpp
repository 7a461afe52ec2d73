#include "host/packing/parallel_for.hpp"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace espalier {
namespace {

constexpr std::size_t kWorthSharing = std::size_t{1} << 15;

}  // namespace

void ParallelFor(std::size_t parts, std::size_t entries,
                 const std::function<void(std::size_t part)>& body) {
  if (entries < kWorthSharing) {
    for (std::size_t part = 0; part < parts; ++part) body(part);
    return;
  }
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(std::size_t{0}, parts, body); });
}

}  // namespace espalier
