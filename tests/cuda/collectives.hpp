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
  SortedFront front;      // items, and what they hold, that suffice for half of the sum
  // Positions of the tightest of 32-bit values that hold at least 500; of equal ones the first, and
  // the one with the smallest tie.
  std::int32_t tightest = -1;
  std::int32_t tightest_with_ties = -1;
};

// Arrays in the memory the team works on.
struct CollectivesArgs {
  std::int32_t size = 0;
  const std::int64_t* values = nullptr;  // [size]
  std::int64_t* kept = nullptr;          // [size] values divisible by three, in order
  Candidate* sorted = nullptr;           // [size] by value, then position
  Candidate* front = nullptr;            // [size] the same, as far as they suffice
  std::int32_t* narrow = nullptr;        // [size] the values in 32 bits, rounded down to fours
  std::int32_t* ties = nullptr;          // [size]
  CollectivesResult* result = nullptr;   // [1]
};

struct ByPods {
  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.none() || b.none()) return !a.none() && b.none();
    return a.pods != b.pods ? a.pods < b.pods : a.domain < b.domain;
  }
  static constexpr int kKeys = 1;
  ESPALIER_HD std::uint64_t Key(const Candidate& c, int /*key*/) const {
    return static_cast<std::uint64_t>(c.pods);
  }
};

struct Plus {
  ESPALIER_HD std::int64_t operator()(std::int64_t a, std::int64_t b) const { return a + b; }
};

struct MakeByPosition {
  const std::int64_t* values = nullptr;
  ESPALIER_HD Candidate operator()(std::int32_t i) const {
    Candidate candidate;
    candidate.domain = i;
    candidate.pods = values[i];
    return candidate;
  }
};

struct PodsOf {
  ESPALIER_HD std::int64_t operator()(const Candidate& candidate) const { return candidate.pods; }
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
    args.narrow[i] = static_cast<std::int32_t>(args.values[i]) & ~3;
    args.ties[i] = args.size - i % 5;
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
  result.front = team.sort_front(args.front, args.size, MakeByPosition{args.values}, PodsOf{},
                                 ByPods{}, result.sum / 2);
  result.tightest = team.first_tightest(args.narrow, nullptr, args.size, 500);
  result.tightest_with_ties = team.first_tightest(args.narrow, args.ties, args.size, 500);
  if (team.rank() == 0) *args.result = result;
}

inline constexpr int kOneWarp = 0;

// Runs the same in one block of `threads` (32, 128 or 256) on the device, or in a warp where that
// is kOneWarp, and waits. Arrays are in host memory. Returns a text that says what failed; null:
// nothing.
const char* RunCollectivesOnDevice(int threads, const CollectivesArgs& args);

}  // namespace espalier
