// Goes through domains in the order of their ids and hands on those that a plan takes.
#pragma once

#include <cstdint>

#include "kernels/decisions/slice_index.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The ways in which a plan treats a domain.
enum class Taking {
  kNot,
  kWholly,
  kAtBound,  // if it is among the first of these
  kLast,     // if it is the first of these
};

// The number of domains taken, and how many more may be, of the kinds of which not all are.
struct TakingState {
  std::int32_t taken = 0;
  std::int32_t at_bound = 0;
  std::int32_t last = 0;
};

// Number of domains of a run, by what the plan does with them.
struct TakingTally {
  std::int32_t whole = 0;
  std::int32_t at_bound = 0;
  std::int32_t last = 0;

  ESPALIER_HD TakingTally operator+(const TakingTally& other) const {
    return {whole + other.whole, at_bound + other.at_bound, last + other.last};
  }
};

// Returns the state after domains like these.
ESPALIER_HD inline TakingState After(const TakingState& state, const TakingTally& gone) {
  const std::int32_t at_bound = gone.at_bound < state.at_bound ? gone.at_bound : state.at_bound;
  const std::int32_t last = gone.last < state.last ? gone.last : state.last;
  return {state.taken + gone.whole + at_bound + last, state.at_bound - at_bound, state.last - last};
}

// Domains of a run that one lane goes through in one step.
inline constexpr std::int32_t kTakingRun = SliceIndex::kRun;

// Calls `take(i, taking, state)` for every position i of `size` that is taken, as `taking_of(i)`
// and the state say: with how many are taken before it, and how many more may be after it.
// `skip(i)` may return a later multiple of kTakingRun before which nothing is taken. Brings
// `state`, which is the same on every lane, up to date; a barrier must follow before lanes read
// what others took.
template <class Team, class TakingOf, class Skip, class Take>
ESPALIER_HD void SelectTaken(Team& team, std::int32_t size, const TakingOf& taking_of,
                             const Skip& skip, TakingState& state, const Take& take) {
  for (std::int32_t base = skip(0); base < size; base = skip(base + team.size() * kTakingRun)) {
    const std::int32_t mine = base + team.rank() * kTakingRun;
    const std::int32_t end = size - mine < kTakingRun ? size : mine + kTakingRun;
    TakingTally tally;
    for (std::int32_t i = mine; i < end; ++i) {
      const Taking taking = taking_of(i);
      tally.whole += taking == Taking::kWholly ? 1 : 0;
      tally.at_bound += taking == Taking::kAtBound ? 1 : 0;
      tally.last += taking == Taking::kLast ? 1 : 0;
    }
    TakingState now = After(state, team.exclusive_sum(tally).prefix);
    for (std::int32_t i = mine; i < end; ++i) {
      const Taking taking = taking_of(i);
      if (taking == Taking::kNot) continue;
      if (taking == Taking::kAtBound) {
        if (now.at_bound == 0) continue;
        --now.at_bound;
      } else if (taking == Taking::kLast) {
        if (now.last == 0) continue;
        --now.last;
      }
      take(i, taking, now);
      ++now.taken;
    }
    state = team.broadcast(now, team.size() - 1);
  }
}

}  // namespace espalier
