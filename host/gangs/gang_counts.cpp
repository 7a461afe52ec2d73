#include "host/gangs/gang_counts.hpp"

#include <algorithm>
#include <limits>

namespace espalier {
namespace {

constexpr std::int64_t kLater = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int32_t>::max();

// Adds pods to each count in turn, up to what `most` says for it, until `left` are added.
template <class Most>
void AddInOrder(std::vector<std::int32_t>& counts, std::int64_t left, Most most) {
  for (std::size_t i = 0; i < counts.size() && left > 0; ++i) {
    const std::int64_t room = std::max<std::int64_t>(most(i) - counts[i], 0);
    const std::int64_t more = std::min(room, left);
    counts[i] += static_cast<std::int32_t>(more);
    left -= more;
  }
}

std::int64_t Sum(const std::vector<std::int32_t>& counts) {
  std::int64_t sum = 0;
  for (const std::int32_t count : counts) sum += count;
  return sum;
}

std::int32_t RunningIn(const EqGroup& group) {
  return static_cast<std::int32_t>(std::min(RunningPodsOf(group), kUnbounded));
}

// All pods of each group that there are to be, those that run included.
std::vector<std::int32_t> TotalsOf(const GangWorkload& workload, const GangGroup& gang) {
  const std::vector<const EqGroup*> groups = GroupsOf(gang);
  std::vector<std::int32_t> totals;
  for (const EqGroup* group : groups) {
    std::int32_t total = group->count.value_or(group->min_count.value_or(0));
    if (!workload.whole) total = std::min(total, group->max_count.value_or(total));
    totals.push_back(std::max(total, RunningIn(*group)));
  }
  const std::int64_t least = gang.mode == GangMode::kGang ? gang.min_count.value_or(0) : 0;
  AddInOrder(totals, RunsEnough(gang) ? kUnbounded : least - Sum(totals),
             [&](std::size_t i) -> std::int64_t {
               if (RunsEnough(gang))
                 return groups[i]->count.value_or(groups[i]->max_count.value_or(0));
               return groups[i]->max_count.value_or(kUnbounded);
             });
  if (workload.whole || !gang.max_count) return totals;
  // Pods above the maximum are taken away again, the last first; those that run stay.
  std::int64_t above = Sum(totals) - *gang.max_count;
  for (std::size_t i = totals.size(); i-- > 0 && above > 0;) {
    const std::int64_t less = std::min<std::int64_t>(above, totals[i] - RunningIn(*groups[i]));
    totals[i] -= static_cast<std::int32_t>(less);
    above -= less;
  }
  return totals;
}

void TakeOffRunning(const GangGroup& gang, std::vector<std::int32_t>& totals) {
  const std::vector<const EqGroup*> groups = GroupsOf(gang);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    totals[i] = std::max(totals[i] - RunningIn(*groups[i]), 0);
  }
}

}  // namespace

bool AsksForLevels(const GroupTopologyRequest& request) {
  return request.levels && (request.levels->required || request.levels->preferred ||
                            request.levels->unconstrained || HasSlices(*request.levels));
}

bool Binds(const GroupTopologyRequest& request) {
  return request.levels &&
         (request.levels->required || request.levels->preferred || HasSlices(*request.levels));
}

bool HasSlices(const TopologyRequest& request) {
  return request.slice_topology || !request.slice_constraints.empty();
}

std::int32_t CopiesOfGang(const GangWorkload& workload) {
  return workload.replica_mode == ReplicaMode::kReplicatedGangs ? workload.replicas.value_or(1) : 1;
}

const MiddleGroup& Middle(const GangGroup& gang, std::int32_t position) {
  return gang.middle_groups[static_cast<std::size_t>(position)];
}

bool IsWithin(const GangGroup& gang, std::int32_t within, std::int32_t middle) {
  while (within > middle) within = Middle(gang, within).within;
  return within == middle;
}

std::vector<const GroupTopologyRequest*> RequestsAround(const GangWorkload& workload,
                                                        const GangGroup& gang,
                                                        const RankedGroup& ranked,
                                                        const EqGroup* group) {
  std::vector<const GroupTopologyRequest*> requests;
  if (group != nullptr) requests.push_back(&group->topology_request);
  requests.push_back(&ranked.topology_request);
  for (std::int32_t at = ranked.within; at >= 0; at = Middle(gang, at).within) {
    requests.push_back(&Middle(gang, at).topology_request);
  }
  requests.push_back(&gang.topology_request);
  requests.push_back(&workload.topology_request);
  return requests;
}

std::vector<const EqGroup*> GroupsOf(const GangGroup& gang) {
  std::vector<const EqGroup*> groups;
  for (const RankedGroup& ranked : gang.ranked_groups) {
    for (const EqGroup& group : ranked.eq_groups) groups.push_back(&group);
  }
  return groups;
}

bool IsBestEffort(const GangWorkload& workload, const GangGroup& gang) {
  return !workload.whole &&
         (gang.mode == GangMode::kOff || workload.replica_mode == ReplicaMode::kReplicatedPods);
}

std::int64_t RunningPodsOf(const EqGroup& group) {
  std::int64_t pods = 0;
  for (const RunningPods& one : group.running) pods += one.pods;
  return pods;
}

std::int64_t RunningPodsOf(const GangGroup& gang) {
  std::int64_t pods = 0;
  for (const EqGroup* group : GroupsOf(gang)) pods += RunningPodsOf(*group);
  return pods;
}

void MergeRunning(EqGroup& group) {
  std::vector<RunningPods> merged;
  std::ranges::sort(group.running, {}, &RunningPods::node);
  for (RunningPods& one : group.running) {
    if (merged.empty() || merged.back().node != one.node) {
      merged.push_back(std::move(one));
    } else {
      RunningPods& same = merged.back();
      same.pods += one.pods;
      same.names.insert(same.names.end(), one.names.begin(), one.names.end());
      same.pending.insert(same.pending.end(), one.pending.begin(), one.pending.end());
      const auto known = [](std::int64_t since) { return since == 0 ? kLater : since; };
      const std::int64_t since = std::min(known(same.pending_since), known(one.pending_since));
      same.pending_since = since == kLater ? 0 : since;
    }
  }
  for (RunningPods& one : merged) std::ranges::sort(one.names);
  group.running = std::move(merged);
}

bool RunsEnough(const GangGroup& gang) {
  const std::int64_t running = RunningPodsOf(gang);
  return running > 0 && gang.mode == GangMode::kGang && gang.min_count &&
         running >= *gang.min_count;
}

bool RunsWhole(const GangWorkload& workload, const GangGroup& gang) {
  if (RunningPodsOf(gang) == 0) return false;
  return std::ranges::all_of(PodCountsOf(workload, gang),
                             [](const PodCounts& pods) { return pods.most == 0; });
}

std::vector<std::int32_t> CountsOf(const GangWorkload& workload, const GangGroup& gang) {
  std::vector<std::int32_t> counts = TotalsOf(workload, gang);
  TakeOffRunning(gang, counts);
  return counts;
}

std::vector<PodCounts> PodCountsOf(const GangWorkload& workload, const GangGroup& gang) {
  const std::vector<const EqGroup*> groups = GroupsOf(gang);
  std::vector<std::int32_t> most = TotalsOf(workload, gang);
  std::vector<std::int32_t> required = most;
  if (!workload.whole) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::int32_t least = std::min(most[i], groups[i]->min_count.value_or(0));
      required[i] = std::max(RunningIn(*groups[i]), least);
    }
    AddInOrder(required, gang.min_count.value_or(0) - Sum(required),
               [&](std::size_t i) -> std::int64_t { return most[i]; });
    AddInOrder(most, gang.max_count.value_or(kUnbounded) - Sum(most),
               [&](std::size_t i) -> std::int64_t {
                 if (groups[i]->count) return most[i];  // there are no more
                 return groups[i]->max_count.value_or(gang.max_count ? kUnbounded : most[i]);
               });
  }
  TakeOffRunning(gang, required);
  TakeOffRunning(gang, most);
  std::vector<PodCounts> counts;
  for (std::size_t i = 0; i < most.size(); ++i) {
    const bool is_gang = workload.whole || gang.mode == GangMode::kGang;
    counts.push_back({is_gang ? required[i] : 0, most[i]});
  }
  return counts;
}

std::int64_t TotalOf(const std::vector<std::int32_t>& counts) {
  std::int64_t sum = 0;
  for (const std::int32_t count : counts) sum += count;
  return sum;
}

}  // namespace espalier
