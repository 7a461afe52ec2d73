// Deciding ahead: requests in order may be answered several at once on one state, as long as each
// answer is the one it would have been after those before it were booked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "host/engine/backend.hpp"
#include "kernels/ids.hpp"
#include "kernels/views.hpp"

namespace espalier {

// What was booked since some jobs were decided, and whether their results still stand.
class BookedLeaves {
 public:
  // Before usage is added to this leaf.
  void Note(const FlavorState& state, LeafId leaf);

  // Forgets everything: decisions are made anew.
  void Clear() { before_.clear(); }

  // True only when `result`, which `job` was answered before everything noted was booked, is what
  // it would be answered now. False also where finding out is not worth it.
  bool Stands(const PlacementJob& job, const PlacementResult& result);

 private:
  using Amounts = std::vector<Amount>;             // of one leaf, by column
  using Leaves = std::map<std::int32_t, Amounts>;  // before they were booked

  // Memory for counts of single domains, by domain id.
  struct Counts {
    std::vector<StoredCount> pods, slices, pods_with_leader, slices_with_leader;
    std::vector<std::uint8_t> leaders;
  };

  std::unordered_map<const FlavorState*, Leaves> before_;
  Counts counts_;
};

// Answers requests [0, requests) in rounds. `round(first, count, booked)` decides requests [first,
// first + count) on one state and books them in order for as long as they stand, noting that in
// `booked`, which is empty; it answers how many these were, at least one. A count of 1 where the
// back end does not look ahead.
template <class Round>
void PlaceInRounds(const Backend& backend, std::size_t requests, const Round& round) {
  constexpr std::size_t kFirstRound = 8;
  BookedLeaves booked;
  std::size_t ahead = kFirstRound;
  for (std::size_t done = 0; done < requests;) {
    const std::size_t stood =
        round(done, std::min({ahead, backend.lookahead(), requests - done}), booked);
    done += stood;
    // More next time when everything stood, about as many as stood otherwise.
    ahead = 2 * stood;
    booked.Clear();
  }
}

}  // namespace espalier
