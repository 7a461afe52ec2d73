// Selecting an optimal set of domains for balanced placement (R14.5, R14.12 to R14.15).
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/decisions/leader_first.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/log2.hpp"
#include "kernels/decisions/orders.hpp"
#include "kernels/decisions/take_plan.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct SmallerCount {
  ESPALIER_HD bool operator()(Count a, Count b) const { return a < b; }
};

// The result of a greedy walk over domains (R14.5). Without such a domain a count is kNoDomain,
// which bounds nothing.
struct Greedy {
  static constexpr Count kNoDomain = std::numeric_limits<Count>::max();

  bool fits = false;
  Count domains = 0;              // n
  Count last_leader = kNoDomain;  // slices with a leader of lastL
  Count last = kNoDomain;         // slices of the last domain taken without a leader
  Count last_beside = kNoDomain;  // its slices with a leader
};

// Returns the fewest domains of `list` that hold the request, taken greedily as best-fit (R9.6).
// Reorders the list.
template <class Team>
ESPALIER_HD Greedy FewestDomains(Team& team, CandidateList list, const PlacementQuery& query) {
  Greedy greedy;
  Count rest = query.slices();
  Count leaders = query.leaders;
  std::int32_t i = 0;
  if (leaders > 0) {
    team.sort(list.items, list.size, LeaderOrder{});
    for (; i < list.size && leaders > 0 && list[i].leaders > 0; ++i) {
      greedy.last_leader = list[i].slices_with_leader;
      ++greedy.domains;
      leaders -= list[i].leaders;
      rest -= list[i].slices_with_leader;
    }
    list = list.From(i);
    team.sync();
  }
  team.sort(list.items, list.size, PlainOrder{});
  for (i = 0; i < list.size && rest > 0 && list[i].slices > 0; ++i) {
    greedy.last = list[i].slices;
    greedy.last_beside = list[i].slices_with_leader;
    ++greedy.domains;
    rest -= list[i].slices;
  }
  greedy.fits = leaders <= 0 && rest <= 0;
  team.sync();
  return greedy;
}

// Returns the same for a run of domains; `items` has room for them. Workers alone need no order.
template <class Team>
ESPALIER_HD Greedy FewestDomains(Team& team, const CountsView& counts, DomainRange range,
                                 const PlacementQuery& query, Candidate* items) {
  if (query.leaders > 0 || query.slices() <= 0 || counts.affinity != nullptr) {
    return FewestDomains(team, ListDomains(team, counts, range, items), query);
  }
  const CountRun slices{counts.slices + range.begin, range.size()};
  const DomainCounts by_slices(team, slices);
  const TakePlan plan = PlanTake(by_slices, query.slices(), false);
  if (!plan.suffices) return {};
  return {true, plan.domains, Greedy::kNoDomain, plan.bound, plan.bound};
}

// Writes the Shannon entropy, in bits, of the pods of each listed domain's children. Terms are
// added in ascending order of pods, so equal multisets give equal doubles (R14.15). `entropy` is
// indexed by domain - range.begin; `terms` has room for the children of one domain.
template <class Team>
ESPALIER_HD void ChildEntropies(Team& team, const TreeView& tree, const CountsView& counts,
                                DomainRange range, std::int32_t level, double* entropy,
                                Count* terms) {
  for (std::int32_t d = range.begin; d < range.end; ++d) {
    double sum = 0.0;
    if (level < tree.lowest()) {
      const DomainRange children = ChildrenOf(tree, d);
      Count mine = 0;
      for (std::int32_t i = team.rank(); i < children.size(); i += team.size()) {
        terms[i] = counts.pods[children.begin + i];
        mine += terms[i];
      }
      const Count total = team.reduce(mine, Count{0}, PlusCount{});
      team.sort(terms, children.size(), SmallerCount{});
      for (std::int32_t i = 0; i < children.size(); ++i) {
        if (terms[i] <= 0) continue;
        const double share = static_cast<double>(terms[i]) / static_cast<double>(total);
        sum -= share * Log2(share);
      }
    }
    if (team.rank() == 0) entropy[d - range.begin] = sum;
    team.sync();
  }
}

// Orders domains by LD, then UW, then entropy, all descending, then by path (R14.14).
struct EntropyOrder {
  const double* entropy = nullptr;  // by domain - first
  std::int32_t first = 0;

  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.leaders != b.leaders) return a.leaders > b.leaders;
    if (a.slices_with_leader != b.slices_with_leader) {
      return a.slices_with_leader > b.slices_with_leader;
    }
    const double of_a = entropy[a.domain - first];
    const double of_b = entropy[b.domain - first];
    if (of_a != of_b) return of_a > of_b;
    return a.domain < b.domain;
  }
};

struct PathOrder {
  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    return a.domain < b.domain;
  }
};

// The exact dynamic programme of R14.12 over (domains used, leaders left, pods left). One lane runs
// it: every step depends on the one before.
class Selection {
 public:
  ESPALIER_HD Selection(const CandidateList& list, std::int32_t domains, const Workspace& workspace)
      : list_(list), domains_(domains), workspace_(workspace) {
    for (std::int32_t i = 0; i <= domains_; ++i) Head(i, 0) = Head(i, 1) = -1;
  }

  // Fills all states. False: workspace.states is too small.
  ESPALIER_HD bool Run(Count leaders, Count pods) {
    std::int32_t* cursor = &Head(0, leaders > 0 ? 1 : 0);
    if (!Insert(cursor, pods, -1, -1)) return false;
    for (std::int32_t d = 0; d < list_.size; ++d) {
      const std::int32_t most = d + 1 < domains_ ? d + 1 : domains_;
      const std::int32_t behind = list_.size - 1 - d;  // domains that can still follow
      const std::int32_t least = domains_ - behind > 1 ? domains_ - behind : 1;
      for (std::int32_t used = most; used >= least; --used) {
        if (!Extend(used, d)) return false;
      }
    }
    return true;
  }

  // Returns the state that uses all domains, needs no leader and wastes least; -1: none.
  ESPALIER_HD std::int32_t Best() {
    std::int32_t best = -1;
    for (std::int32_t s = Head(domains_, 0); s >= 0 && workspace_.states[s].pods <= 0;
         s = workspace_.states[s].next) {
      best = s;
    }
    return best;
  }

 private:
  ESPALIER_HD std::int32_t& Head(std::int32_t used, std::int32_t leaders) {
    return workspace_.state_heads[2 * used + leaders];
  }

  // Takes domain `d` on top of every way that used one domain less.
  ESPALIER_HD bool Extend(std::int32_t used, std::int32_t d) {
    const Candidate& domain = list_[d];
    for (std::int32_t leaders = 0; leaders <= 1; ++leaders) {
      std::int32_t* led = &Head(used, 0);
      std::int32_t* plain = &Head(used, leaders);
      for (std::int32_t s = Head(used - 1, leaders); s >= 0; s = workspace_.states[s].next) {
        const Count pods = workspace_.states[s].pods;
        if (leaders == 0 && pods <= 0) continue;
        if (leaders > 0 && domain.leaders > 0 &&
            !Insert(led, pods - domain.pods_with_leader, d, s)) {
          return false;
        }
        if (domain.slices > 0 && !Insert(plain, pods - domain.pods, d, s)) return false;
      }
    }
    return true;
  }

  // Adds a state to the ascending list `cursor` points into unless its pods are there already: the
  // first writer wins. `cursor` moves on; callers insert ascending pods.
  ESPALIER_HD bool Insert(std::int32_t*& cursor, Count pods, std::int32_t domain,
                          std::int32_t previous) {
    while (*cursor >= 0 && workspace_.states[*cursor].pods < pods) {
      cursor = &workspace_.states[*cursor].next;
    }
    if (*cursor >= 0 && workspace_.states[*cursor].pods == pods) return true;
    if (size_ == workspace_.state_capacity) return false;
    workspace_.states[size_] = {pods, domain, previous, *cursor};
    *cursor = size_++;
    return true;
  }

  const CandidateList& list_;
  std::int32_t domains_;
  const Workspace& workspace_;
  std::int32_t size_ = 0;
};

enum class BalancedStatus : std::int32_t {
  kChosen,
  kNotApplicable,  // the plain path decides (R14.3)
  kUndefined,      // upstream divides by zero (R14.6)
  kOutOfStates,    // workspace.states is too small; run again with more
};

// Selects exactly (SELECT, R14.12): keeps of `list`, which is in the order to try, the `domains`
// domains that hold the request with the least waste; writes them to `out` in that order.
template <class Team>
ESPALIER_HD BalancedStatus SelectDomains(Team& team, const CandidateList& list,
                                         std::int32_t domains, const PlacementQuery& query,
                                         const Workspace& workspace, Candidate* out) {
  BalancedStatus status = BalancedStatus::kNotApplicable;
  if (team.rank() == 0) {
    Selection selection(list, domains, workspace);
    if (!selection.Run(query.leaders, query.slices() * query.slice.size)) {
      status = BalancedStatus::kOutOfStates;
    } else if (std::int32_t state = selection.Best(); state >= 0) {
      status = BalancedStatus::kChosen;
      for (std::int32_t i = domains; i-- > 0; state = workspace.states[state].previous) {
        out[i] = list[workspace.states[state].domain];
      }
    }
  }
  return static_cast<BalancedStatus>(team.broadcast(static_cast<std::int32_t>(status), 0));
}

}  // namespace espalier
