// Supports deciding ahead: requests in order may be answered several at once on one state, as long
// as each answer is the one it would have been after those before it were booked.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "host/engine/backend.hpp"
#include "kernels/ids.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Records what was booked since some jobs were decided, to tell whether their results are still
// valid.
class BookedLeaves {
 public:
  // Records a leaf; must be called before usage is added to it.
  void Note(const FlavorState& state, LeafId leaf);

  // Clears the record, for jobs that are decided from now on.
  void Clear() { before_.clear(); }

  // Returns whether `result`, the answer to `job` before anything recorded was booked, would still
  // be the answer now. May return false conservatively.
  bool StillValid(const PlacementJob& job, const PlacementResult& result);

 private:
  using Amounts = std::vector<Amount>;             // of one leaf, by column
  using Leaves = std::map<std::int32_t, Amounts>;  // before they were booked

  std::unordered_map<const FlavorState*, Leaves> before_;
  CountsStorage counts_;  // of single domains
};

}  // namespace espalier
