// Bounds how long a thread block or a warp decides, before it is launched: work that is honest but
// long must not be taken for a device that is lost, and what is small is a warp's.
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

// The most domains in a list of a decision that a warp makes, and the most steps that it takes: a
// warp may be given a few dozen of them in one launch.
inline constexpr std::int32_t kSmallList = 4096;
inline constexpr std::int64_t kSmallSteps = kMaxBlockSteps / 32;

// Returns the most shares that an evaluation of a job can get: every share holds a pod or a leader,
// and no leaf has two.
std::int32_t MostShares(const PlacementJob& job, Count pods);

// A bound of what deciding an evaluation takes.
struct BoundedWork {
  std::int64_t steps = 0;
  bool small = false;  // the steps are a warp's, which decides it; else a thread block's
};

// Estimates decisions on one tree.
class JobWork {
 public:
  // `tree` is on the host.
  explicit JobWork(const TreeView& tree);

  // Returns the number of steps that deciding the job with so many pods takes in one thread block
  // at most; no more than kManySteps. The estimate depends on the request and the tree, not on what
  // is free, and does not fall when pods rise.
  std::int64_t Steps(const PlacementJob& job, Count pods) const;

  // The most pods with which a job is small, and the steps that it takes a warp then at most.
  struct Small {
    Count pods = -1;  // it never is
    std::int64_t steps = 0;
  };
  // Returns with how many pods a warp decides the job as well as a thread block: indices of the
  // levels (kernels/decisions/level_index.hpp) tell what it looks for, and its lists are short.
  Small SmallOf(const PlacementJob& job) const;

  static constexpr std::int64_t kManySteps = std::numeric_limits<std::int64_t>::max() / 4;

 private:
  struct Level {
    std::int64_t width = 0;     // domains
    std::int64_t children = 0;  // the most that a domain has
  };

  // Pods on their way down from a level.
  struct Descent {
    std::int64_t steps = 0;
    std::int64_t longest = 0;  // list of domains
  };
  std::int64_t ChoosingSteps(const PlacementQuery& query, bool scored) const;
  Descent DescentFrom(const PlacementQuery& query, std::int64_t lanes,
                      std::int64_t leaf_steps) const;
  std::int64_t BalancedSteps(const PlacementQuery& query, bool scored) const;
  Small SmallAt(std::int32_t level, bool required) const;

  std::vector<Level> levels_;    // coarsest first
  std::vector<Small> small_[2];  // by level, of jobs that prefer or require it
};

}  // namespace espalier
