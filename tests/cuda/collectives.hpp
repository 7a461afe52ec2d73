// Every collective of a Team over one array, with results that do not depend on the team's size.
#pragma once

#include <cstdint>

#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct CollectivesResult {
  std::int64_t sum = 0;
  Candidate least;        // by value, then position
  std::int64_t last = 0;  // broadcast from the lane that holds it
  bool any_negative = false;
  std::int32_t kept = 0;  // values divisible by three
};

// Arrays in the memory the team works on.
struct CollectivesArgs {
  std::int32_t size = 0;
  const std::int64_t* values = nullptr;  // [size]
  std::int64_t* kept = nullptr;          // [size] values divisible by three, in order
  Candidate* sorted = nullptr;           // [size] by value, then position
  CollectivesResult* result = nullptr;   // [1]
};

struct ByPods {
  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.none() || b.none()) return !a.none() && b.none();
    return a.pods != b.pods ? a.pods < b.pods : a.domain < b.domain;
  }
};

struct Plus {
  ESPALIER_HD std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

template <class Team>
ESPALIER_HD void RunCollectives(Team& team, const CollectivesArgs& args) {
  CollectivesResult result;
  std::int64_t mine = 0;
  bool negative = false;
  Candidate best;
  for (std::int32_t i = team.rank(); i < args.size; i += team.size()) {
    Candidate candidate;
    candidate.domain = i;
    candidate.pods = args.values[i];
    args.sorted[i] = candidate;
    mine += args.values[i];
    negative = negative || args.values[i] < 0;
    if (ByPods{}(candidate, best)) best = candidate;
  }
  result.sum = team.reduce(mine, std::int64_t{0}, Plus{});
  result.least = team.minimum(best, ByPods{});
  result.any_negative = team.any(negative);
  if (args.size > 0) {
    const std::int32_t owner = (args.size - 1) % team.size();
    const std::int64_t seen = team.rank() == owner ? args.values[args.size - 1] : -1;
    result.last = team.broadcast(seen, owner);
  }
  for (std::int32_t base = 0; base < args.size; base += team.size()) {
    const std::int32_t i = base + team.rank();
    const bool keep = i < args.size && args.values[i] % 3 == 0;
    const ScanResult<std::int32_t> scan = team.exclusive_sum(keep ? 1 : 0);
    if (keep) args.kept[result.kept + scan.prefix] = args.values[i];
    result.kept += scan.total;
  }
  team.sync();
  team.sort(args.sorted, args.size, ByPods{});
  if (team.rank() == 0) *args.result = result;
}

// The same in one block of `threads` (32, 128 or 256) on the device; arrays in host memory. Waits.
// A text says what failed; null: nothing.
const char* RunCollectivesOnDevice(int threads, const CollectivesArgs& args);

}  // namespace espalier
