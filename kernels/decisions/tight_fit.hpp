// The tight-fit rule: the smallest domain that is still large enough (R9.4, R9.5).
#pragma once

#include <cstdint>

#include "kernels/decisions/lists.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A capacity and its position in an ordered list; the first of equal capacities wins.
struct TightKey {
  Count capacity = 0;
  std::int32_t position = -1;

  ESPALIER_HD bool none() const { return position < 0; }
};

struct TightLess {
  ESPALIER_HD bool operator()(const TightKey& a, const TightKey& b) const {
    if (a.none() || b.none()) return !a.none() && b.none();
    if (a.capacity != b.capacity) return a.capacity < b.capacity;
    return a.position < b.position;
  }
};

// Returns the length of the affinity tier: the longest prefix whose affinity equals that of the
// first element (R9.4); the whole list where affinity is not looked at.
template <class Team>
ESPALIER_HD std::int32_t AffinityTier(Team& team, const CandidateList& list, bool affinity) {
  if (!affinity) return list.size;
  std::int32_t end = list.size;
  for (std::int32_t i = team.rank(); i < list.size && end == list.size; i += team.size()) {
    if (list[i].affinity != list[0].affinity) end = i;
  }
  return team.minimum(end, SmallerIndex{});
}

// Returns the position in the ordered, non-empty `list` of the smallest capacity >= need within the
// first affinity tier; domains that lack a wanted leader are skipped; 0 when nothing qualifies.
template <class Team>
ESPALIER_HD std::int32_t TightFit(Team& team, const CandidateList& list, Count need, Count leaders,
                                  Unit unit, bool affinity) {
  const std::int32_t tier = AffinityTier(team, list, affinity);
  TightKey best;
  for (std::int32_t i = team.rank(); i < tier; i += team.size()) {
    if (list[i].leaders < leaders) continue;
    const TightKey key{Capacity(list[i], unit, leaders > 0), i};
    if (key.capacity >= need && TightLess{}(key, best)) best = key;
  }
  best = team.minimum(best, TightLess{});
  return best.none() ? 0 : best.position;
}

}  // namespace espalier
