// TAKE over the children of several domains (R13.2), without putting them in order first where one
// lane works alone: which domains are taken, and with how much, follows from how many domains hold
// how many pods.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/scans.hpp"
#include "kernels/team/serial_team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// False: the children must be put in order.
template <class Team, class Source>
ESPALIER_HD bool TakePooled(Team& /*team*/, const TreeView& /*tree*/, const Source& /*source*/,
                            const PlacementQuery& /*query*/, std::int32_t /*level*/,
                            const ShareList& /*current*/, ShareList& /*next*/) {
  return false;
}

// Domains by the pods they hold, up to a bound.
class PodHistogram {
 public:
  static constexpr StoredCount kMost = 1023;

  explicit PodHistogram(StoredCount most) : most_(most) { std::fill_n(domains_, most + 1, 0); }

  void Add(const StoredCount* pods, std::int32_t size) {
    for (std::int32_t i = 0; i < size; ++i) ++domains_[pods[i]];
  }
  StoredCount most() const { return most_; }
  std::int32_t operator[](StoredCount pods) const { return domains_[pods]; }

 private:
  StoredCount most_;
  std::int32_t domains_[kMost + 1];
};

// What of a pool of domains is taken: all before `bound` in the order wholly, `at_bound` of the
// domains that hold `bound`, the smallest ids first, and `rest` pods of one more that holds `last`.
struct PooledTake {
  StoredCount bound = 0;
  std::int32_t at_bound = 0;
  StoredCount last = 0;
  Count rest = 0;
};

// R12.3 to R12.5 on a histogram. False when the pool does not hold `need` pods.
inline bool PlanTake(const PodHistogram& pool, Count need, bool least_free, PooledTake& plan) {
  const StoredCount step = least_free ? 1 : -1;
  StoredCount pods = least_free ? 1 : pool.most();
  for (; pods >= 1 && pods <= pool.most(); pods += step) {
    const Count held = Count{pods} * pool[pods];
    if (held >= need) break;
    need -= held;
  }
  if (pods < 1 || pods > pool.most()) return false;
  plan.bound = pods;
  plan.at_bound = static_cast<std::int32_t>((need - 1) / pods);  // one more takes the rest
  plan.rest = need - Count{plan.at_bound} * pods;
  plan.last = pods;
  if (least_free) return true;
  // The tightest of what is left (R9.4); at `bound` itself one is left for sure.
  plan.last = static_cast<StoredCount>(plan.rest);
  while (plan.last < pods && pool[plan.last] == 0) ++plan.last;
  return true;
}

// One lane, workers alone, one pod a slice, no affinity: every order is by pods, then by id.
template <class Source>
bool TakePooled(SerialTeam& team, const TreeView& tree, const Source& source,
                const PlacementQuery& query, std::int32_t level, const ShareList& current,
                ShareList& next) {
  if (query.leaders > 0 || query.slice.size != 1 || query.pods == 0) return false;
  const auto by_domain = [](const Share& a, const Share& b) { return a.domain < b.domain; };
  Share* const parents_end = current.items + current.size;
  if (!std::is_sorted(current.items, parents_end, by_domain)) {
    std::sort(current.items, parents_end, by_domain);
  }
  const StoredCount* pods = nullptr;
  StoredCount most = 0;
  for (const Share* parent = current.items; parent != parents_end; ++parent) {
    const DomainRange children = ChildrenOf(tree, parent->domain);
    const CountsView& counts = source.Of(team, level + 1, children);
    if (counts.slices != counts.pods || counts.affinity != nullptr) return false;
    pods = counts.pods;
    for (std::int32_t d = children.begin; d < children.end; ++d) most = std::max(most, pods[d]);
  }
  if (most > PodHistogram::kMost) return false;
  PodHistogram pool(most);
  for (const Share* parent = current.items; parent != parents_end; ++parent) {
    const DomainRange children = ChildrenOf(tree, parent->domain);
    pool.Add(pods + children.begin, children.size());
  }
  PooledTake take;
  if (!PlanTake(pool, query.pods, query.least_free, take)) return true;  // R12.4
  const StoredCount lowest_whole = query.least_free ? 1 : take.bound + 1;
  const StoredCount highest_whole = query.least_free ? take.bound - 1 : most;
  bool rest_given = false;
  for (const Share* parent = current.items; parent != parents_end; ++parent) {
    const DomainRange children = ChildrenOf(tree, parent->domain);
    for (std::int32_t d = children.begin; d < children.end; ++d) {
      if (pods[d] >= lowest_whole && pods[d] <= highest_whole) {
        Append(team, next, {d, 0, pods[d]});
      } else if (pods[d] == take.bound && take.at_bound > 0) {
        --take.at_bound;
        Append(team, next, {d, 0, pods[d]});
      } else if (pods[d] == take.last && !rest_given) {
        rest_given = true;
        Append(team, next, {d, 0, take.rest});
      }
    }
  }
  return true;
}

}  // namespace espalier
