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
// log^2 n) exchanges, but none where the items are in order, as the shares of many leaves mostly
// are.
template <class Team, class T, class Less>
ESPALIER_HD void NetworkSort(Team& team, T* first, std::int32_t n, Less less) {
  team.sync();
  bool sorted = true;
  for (std::int32_t i = team.rank() + 1; i < n; i += team.size()) {
    sorted = sorted && !less(first[i], first[i - 1]);
  }
  if (!team.any(!sorted)) return;
  for (std::int64_t run = 2; run < 2 * static_cast<std::int64_t>(n); run *= 2) {
    ExchangePass(team, first, n, less, MirrorPartner{run});
    for (std::int64_t distance = run / 4; distance > 0; distance /= 2) {
      ExchangePass(team, first, n, less, DistancePartner{distance});
    }
  }
}

}  // namespace espalier
