// Sorting a shared array in place with a team of many lanes. The order is strict and total, so
// every correct sort gives the same bits; these two need no second array.
#pragma once

#include <cstdint>

#include "kernels/macros.hpp"
#include "kernels/team/team.hpp"

namespace espalier {

// Sorts at most one item a lane (n <= team.size()): each lane counts the items before its own.
template <class Team, class T, class Less>
ESPALIER_HD void RankSort(Team& team, T* first, std::int32_t n, Less less) {
  const std::int32_t rank = team.rank();
  T mine{};
  std::int32_t before = 0;
  team.sync();
  if (rank < n) {
    mine = first[rank];
    for (std::int32_t i = 0; i < n; ++i) before += less(first[i], mine) ? 1 : 0;
  }
  team.sync();
  if (rank < n) first[before] = mine;
  team.sync();
}

// Makes one pass of the network: every lower position meets its partner, the lesser item goes
// first.
template <class Team, class T, class Less, class Partner>
ESPALIER_HD void ExchangePass(Team& team, T* first, std::int32_t n, Less less, Partner partner) {
  for (std::int32_t i = team.rank(); i < n; i += team.size()) {
    const std::int64_t other = partner(i);
    if (other <= i || other >= n) continue;
    if (!less(first[other], first[i])) continue;
    const T larger = first[i];
    first[i] = first[other];
    first[other] = larger;
  }
  team.sync();
}

struct MirrorPartner {
  std::int64_t run = 0;  // a power of two
  ESPALIER_HD std::int64_t operator()(std::int64_t i) const { return i ^ (run - 1); }
};

struct DistancePartner {
  std::int64_t distance = 0;  // a power of two
  ESPALIER_HD std::int64_t operator()(std::int64_t i) const { return i ^ distance; }
};

// Sorts with a bitonic network for any n: the first pass over a run meets in mirror order, so all
// exchanges move the larger item up and the missing items behind n would stay where they are. O(n
// log^2 n) exchanges.
template <class Team, class T, class Less>
ESPALIER_HD void NetworkSort(Team& team, T* first, std::int32_t n, Less less) {
  team.sync();
  for (std::int64_t run = 2; run < 2 * static_cast<std::int64_t>(n); run *= 2) {
    ExchangePass(team, first, n, less, MirrorPartner{run});
    for (std::int64_t distance = run / 4; distance > 0; distance /= 2) {
      ExchangePass(team, first, n, less, DistancePartner{distance});
    }
  }
}

// The order `less` with items that weigh nothing last.
template <class Weigh, class Less>
struct WeightlessLast {
  Weigh weigh;
  Less less;

  template <class T>
  ESPALIER_HD bool operator()(const T& a, const T& b) const {
    const bool a_weighs = weigh(a) > 0;
    const bool b_weighs = weigh(b) > 0;
    return a_weighs != b_weighs ? a_weighs : less(a, b);
  }
};

// Does what sort_front of the Team contract says: makes and sorts all items, then cuts.
template <class Team, class T, class Make, class Weigh, class Less>
ESPALIER_HD SortedFront SortAndCut(Team& team, T* front, std::int32_t n, Make make, Weigh weigh,
                                   Less less, std::int64_t need) {
  team.sync();
  for (std::int32_t i = team.rank(); i < n; i += team.size()) front[i] = make(i);
  team.sort(front, n, WeightlessLast<Weigh, Less>{weigh, less});
  SortedFront cut;
  for (; cut.size < n && cut.weight < need; ++cut.size) {
    const std::int64_t weight = weigh(front[cut.size]);
    if (weight <= 0) break;
    cut.weight += weight;
  }
  team.sync();
  return cut;
}

}  // namespace espalier
