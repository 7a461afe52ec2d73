// Lists of candidates in shared memory: filled from domains, then ordered.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/views.hpp"

namespace espalier {

// A shared array and how much of it is used; the same on every lane.
template <class Item>
struct List {
  Item* items = nullptr;
  std::int32_t size = 0;

  ESPALIER_HD Item& operator[](std::int32_t i) const { return items[i]; }
  ESPALIER_HD List From(std::int32_t first) const { return {items + first, size - first}; }
};
using CandidateList = List<Candidate>;
using ShareList = List<Share>;

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

// Appends one item: the list is uniform, one lane writes.
template <class Team, class Item>
ESPALIER_HD void Append(Team& team, List<Item>& list, const std::type_identity_t<Item>& item) {
  if (team.rank() == 0) list.items[list.size] = item;
  ++list.size;
}

}  // namespace espalier
