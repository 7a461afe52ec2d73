// The two orders of domains (R9.1 to R9.3). Both end in the domain id, so they are total, and ids
// of one level ascend in path order.
#pragma once

#include <cstdint>

#include "kernels/views.hpp"

namespace espalier {

// Order A, leader-aware: chooses the level.
struct LeaderOrder {
  bool least_free = false;  // ascending slices instead of descending (R9.6)

  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.none() || b.none()) return !a.none() && b.none();
    if (a.leaders != b.leaders) return a.leaders > b.leaders;
    if (a.affinity != b.affinity) return a.affinity > b.affinity;
    if (a.slices_with_leader != b.slices_with_leader) {
      return (a.slices_with_leader > b.slices_with_leader) != least_free;
    }
    if (a.pods_with_leader != b.pods_with_leader) return a.pods_with_leader < b.pods_with_leader;
    return a.domain < b.domain;
  }
};

// Order B, plain: everything after the leader.
struct PlainOrder {
  bool least_free = false;

  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.none() || b.none()) return !a.none() && b.none();
    if (a.affinity != b.affinity) return a.affinity > b.affinity;
    if (a.slices != b.slices) return (a.slices > b.slices) != least_free;
    if (a.pods != b.pods) return a.pods < b.pods;
    return a.domain < b.domain;
  }

  // Return what is compared before the domain, for sort_front of the Team contract.
  static constexpr int kKeys = 3;
  ESPALIER_HD std::uint64_t Key(const Candidate& c, int key) const {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
    if (key == 0) return ~(static_cast<std::uint64_t>(c.affinity) ^ kSign);
    if (key == 2) return static_cast<std::uint64_t>(c.pods);
    const auto slices = static_cast<std::uint64_t>(c.slices);
    return least_free ? slices : ~slices;
  }
};

}  // namespace espalier
