// Leader promotion (section 11): the domain that can take the leader at least loss goes first.
#pragma once

#include <cstdint>

#include "kernels/decisions/lists.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct PlusCount {
  ESPALIER_HD Count operator()(Count a, Count b) const { return a + b; }
};

// Returns whether a domain can hold the leader while all together, which hold `available`, still
// hold `need` units.
ESPALIER_HD inline bool CanLead(const Candidate& c, Count available, Count need, Count leaders,
                                Unit unit) {
  const Count penalty = Capacity(c, unit, false) - Capacity(c, unit, true);
  return c.leaders >= leaders && available - penalty >= need;
}

// Moves to the front the first domain that can hold the leader while the rest still holds `need`
// units; the others keep their order. No change when there is none.
template <class Team>
ESPALIER_HD void LeaderFirst(Team& team, const CandidateList& list, Count need, Count leaders,
                             Unit unit) {
  if (leaders == 0 || list.size < 2) return;
  Count mine = 0;
  for (std::int32_t i = team.rank(); i < list.size; i += team.size()) {
    mine += Capacity(list[i], unit, false);
  }
  const Count available = team.reduce(mine, Count{0}, PlusCount{});
  std::int32_t first = list.size;
  for (std::int32_t i = team.rank(); i < list.size && first == list.size; i += team.size()) {
    if (CanLead(list[i], available, need, leaders, unit)) first = i;
  }
  first = team.minimum(first, SmallerIndex{});
  if (first == list.size || first == 0) return;
  if (team.rank() == 0) {
    const Candidate promoted = list[first];
    for (std::int32_t i = first; i > 0; --i) list[i] = list[i - 1];
    list[0] = promoted;
  }
  team.sync();
}

}  // namespace espalier
