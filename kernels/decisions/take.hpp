// TAKE (section 12): hands units out along an ordered list of domains.
#pragma once

#include <cstdint>

#include "kernels/decisions/leader_first.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/tight_fit.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct TakeOrder {
  Count pods = 0;     // n
  Count leaders = 0;  // nl
  Count size = 1;     // pods per unit when the unit is a slice
  Unit unit = Unit::kPods;
  bool least_free = false;  // no tight fit then (R12.5)
  bool affinity = false;    // tiers matter (R9.4)
};

// Appends what each visited domain gets to `taken`. Exhausting the list before everything is placed
// appends nothing at all and counts as success (R12.4).
template <class Team>
ESPALIER_HD void Take(Team& team, const CandidateList& list, const TakeOrder& order,
                      ShareList& taken) {
  const Count pods_per_unit = order.unit == Unit::kSlices ? order.size : 1;
  Count rest = order.pods / pods_per_unit;
  Count leaders = order.leaders;
  LeaderFirst(team, list, rest, leaders, order.unit);
  const std::int32_t before = taken.size;
  for (std::int32_t i = 0; i < list.size; ++i) {
    Candidate domain = list[i];
    const bool with_leader = leaders > 0;
    if (!order.least_free && domain.leaders >= leaders &&
        Capacity(domain, order.unit, with_leader) >= rest) {
      domain = list[i + TightFit(team, list.From(i), rest, leaders, order.unit, order.affinity)];
    }
    const Count capacity = Capacity(domain, order.unit, with_leader);
    const bool last = capacity >= rest && domain.leaders >= leaders;
    const Count units = capacity < rest ? capacity : rest;
    const Count led = domain.leaders < leaders ? domain.leaders : leaders;
    Append(team, taken, {domain.domain, static_cast<std::int32_t>(led), units * pods_per_unit});
    if (last) {
      team.sync();
      return;
    }
    leaders -= led;
    rest -= units;
  }
  taken.size = before;
  team.sync();
}

}  // namespace espalier
