// Decides whether a request fits by sums of each level, without choosing domains (section 10).
// Changes of single domains keep the sums up to date.
#pragma once

#include <cstdint>

#include "kernels/decisions/choose_level.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The capacity of all domains of one level for a query.
struct LevelTally {
  Count sufficient = 0;  // domains that are sufficient alone
  Count slices = 0;      // of all domains, each with or without the leader, whatever is more
};

// Returns the slices of a domain, with or without the leader, whatever is more.
ESPALIER_HD inline Count SlicesEitherWay(const Candidate& c) {
  return c.slices > c.slices_with_leader ? c.slices : c.slices_with_leader;
}

// Adds domain `domain` to the tally of its level (`sign` 1), or subtracts it (-1).
ESPALIER_HD inline void Tally(const CountsView& counts, const PlacementQuery& query,
                              std::int32_t domain, Count sign, LevelTally& tally) {
  const Candidate candidate = MakeCandidate(counts, domain);
  if (Sufficient(candidate, query)) tally.sufficient += sign;
  tally.slices += sign * SlicesEitherWay(candidate);
}

enum class FitBound : std::int32_t {
  kNo,    // the request does not fit
  kYes,   // it fits
  kOpen,  // only Place can tell
};

// Returns the coarsest level whose tally BoundOf reads; the last is that of the query.
ESPALIER_HD inline std::int32_t FirstTallied(const PlacementQuery& query) {
  return query.required || query.unconstrained ? query.level : 0;
}

// Returns whether the status that Place would return is kPlaced, as far as the tallies, by level,
// tell. `scored`: domains have affinity scores.
ESPALIER_HD inline FitBound BoundOf(const TreeView& tree, const LevelTally* tallies,
                                    const PlacementQuery& query, bool scored) {
  if (tree.leaf_count() == 0) return FitBound::kNo;  // R10.1
  const Count need = query.slices();
  if (need <= 0) return FitBound::kOpen;  // R6.9, R14.6
  const std::int32_t top = FirstTallied(query);
  bool sufficient = false;
  for (std::int32_t level = top; level <= query.level; ++level) {
    sufficient = sufficient || tallies[level].sufficient > 0;
  }
  if (query.required) return sufficient ? FitBound::kYes : FitBound::kNo;  // R10.5, R10.7
  // Several domains of the last level hold no more than all of them do (R10.9, R14.5).
  if (tallies[top].slices < need) return FitBound::kNo;
  // The choice of the leader's domain decides what the others have to hold.
  if (query.leaders > 0 && (!sufficient || (query.affinity && scored))) return FitBound::kOpen;
  return query.balanced ? FitBound::kOpen : FitBound::kYes;
}

}  // namespace espalier
