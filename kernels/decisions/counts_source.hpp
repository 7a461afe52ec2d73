// Where the decisions after the choice of the level read counts.
#pragma once

#include <cstdint>

#include "kernels/macros.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A source of counts: those of leaves may be made only for the leaves that are come to. This is the
// source for counts that are all in place.
struct StoredCounts {
  CountsView counts;

  // The counts of a run of domains of `level`, in place for every lane when this returns and until
  // the evaluation ends. The view is the same for every run of a level.
  template <class Team>
  ESPALIER_HD const CountsView& Of(Team& /*team*/, std::int32_t /*level*/,
                                   DomainRange /*domains*/) const {
    return counts;
  }
};

ESPALIER_HD inline DomainRange ChildrenOf(const TreeView& tree, std::int32_t domain) {
  return {tree.ChildBegin(domain), tree.ChildBegin(domain + 1)};
}

}  // namespace espalier
