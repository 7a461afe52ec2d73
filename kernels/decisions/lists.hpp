// Lists of candidates in shared memory: filled from domains, then ordered.
#pragma once

#include <cstdint>

#include "kernels/views.hpp"

namespace espalier {

// A shared array and how much of it is used; the same on every lane.
struct CandidateList {
  Candidate* items = nullptr;
  std::int32_t size = 0;

  ESPALIER_HD Candidate& operator[](std::int32_t i) const { return items[i]; }
  ESPALIER_HD CandidateList From(std::int32_t first) const { return {items + first, size - first}; }
};

struct ShareList {
  Share* items = nullptr;
  std::int32_t size = 0;

  ESPALIER_HD Share& operator[](std::int32_t i) const { return items[i]; }
};

struct SmallerIndex {
  ESPALIER_HD bool operator()(std::int32_t a, std::int32_t b) const { return a < b; }
};

// Fills `items` with the domains of a run.
template <class Team>
ESPALIER_HD CandidateList ListDomains(Team& team, const CountsView& counts, DomainRange range,
                                      Candidate* items) {
  for (std::int32_t i = team.rank(); i < range.size(); i += team.size()) {
    items[i] = MakeCandidate(counts, range.begin + i);
  }
  team.sync();
  return {items, range.size()};
}

// Appends one share: the list is uniform, one lane writes.
template <class Team>
ESPALIER_HD void Append(Team& team, ShareList& list, const Share& share) {
  if (team.rank() == 0) list.items[list.size] = share;
  ++list.size;
}

}  // namespace espalier
