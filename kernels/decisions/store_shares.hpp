// Stores the shares of a decision in their final form: by leaf, ascending, none of them empty.
#pragma once

#include <cstdint>

#include "kernels/decisions/lists.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct ByDomain {
  ESPALIER_HD bool operator()(const Share& a, const Share& b) const { return a.domain < b.domain; }
};

inline constexpr std::int32_t kSharesDropped = -1;

// Stores the shares that are not empty by leaf, ascending, and returns their number; kSharesDropped
// when there are more than `capacity`.
template <class Team>
ESPALIER_HD std::int32_t StoreShares(Team& team, const TreeView& tree, const ShareList& shares,
                                     Share* out, std::int32_t capacity) {
  const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
  std::int32_t size = 0;
  for (std::int32_t base = 0; base < shares.size; base += team.size()) {
    const std::int32_t i = base + team.rank();
    Share share;
    if (i < shares.size) share = shares[i];
    const bool keep = share.pods != 0 || share.leaders != 0;
    const ScanResult<std::int32_t> kept = team.exclusive_sum(keep ? 1 : 0);
    const std::int32_t position = size + kept.prefix;
    share.domain -= first_leaf;
    if (keep && position < capacity) out[position] = share;
    size += kept.total;
  }
  if (size > capacity) return kSharesDropped;
  team.sync();
  team.sort(out, size, ByDomain{});
  return size;
}

}  // namespace espalier
