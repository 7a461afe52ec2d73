// Bounds how long a thread block decides, before it is launched: work that is honest but long must
// not be taken for a device that is lost.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "host/engine/backend.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The maximum number of selection states that a thread block has room for (R14.12).
inline constexpr std::int32_t kDeviceStates = std::int32_t{1} << 14;

// The maximum number of steps that one thread block may be given in one launch. A step is a load
// from memory that the next one depends on, and takes up to a microsecond: 4 s, of the 10 s after
// which a device counts as lost.
inline constexpr std::int64_t kMaxBlockSteps = 4'000'000;

// Estimates decisions on one tree.
class JobWork {
 public:
  // `tree` is on the host.
  explicit JobWork(const TreeView& tree);

  // Returns the number of steps that deciding the job with so many pods takes in one thread block
  // at most; no more than kManySteps. The estimate depends on the request and the tree, not on what
  // is free, and does not fall when pods rise.
  std::int64_t Steps(const PlacementJob& job, Count pods) const;

  static constexpr std::int64_t kManySteps = std::numeric_limits<std::int64_t>::max() / 4;

 private:
  struct Level {
    std::int64_t width = 0;     // domains
    std::int64_t children = 0;  // the most that a domain has
  };

  std::int64_t ChoosingSteps(const PlacementQuery& query, bool scored) const;
  std::int64_t DescentSteps(const PlacementQuery& query, std::int64_t leaf_steps) const;
  std::int64_t BalancedSteps(const PlacementQuery& query, bool scored) const;

  std::vector<Level> levels_;  // coarsest first
};

}  // namespace espalier
