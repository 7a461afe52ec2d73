#include "host/gangs/gang_counts.hpp"

#include <algorithm>
#include <limits>

namespace espalier {
namespace {

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

}  // namespace

bool AsksForLevels(const GroupTopologyRequest& request) {
  return request.levels && (request.levels->required || request.levels->preferred ||
                            request.levels->unconstrained || HasSlices(*request.levels));
}

bool HasSlices(const TopologyRequest& request) {
  return request.slice_topology || !request.slice_constraints.empty();
}

std::vector<const EqGroup*> GroupsOf(const GangGroup& gang) {
  std::vector<const EqGroup*> groups;
  for (const RankedGroup& ranked : gang.ranked_groups) {
    for (const EqGroup& group : ranked.eq_groups) groups.push_back(&group);
  }
  return groups;
}

std::vector<std::int32_t> CountsOf(const GangGroup& gang) {
  const std::vector<const EqGroup*> groups = GroupsOf(gang);
  std::vector<std::int32_t> counts;
  for (const EqGroup* group : groups) {
    counts.push_back(group->count.value_or(group->min_count.value_or(0)));
  }
  const std::int64_t least = gang.mode == GangMode::kGang ? gang.min_count.value_or(0) : 0;
  AddInOrder(counts, least - Sum(counts), [&](std::size_t i) -> std::int64_t {
    return groups[i]->max_count.value_or(kUnbounded);
  });
  return counts;
}

std::vector<PodCounts> PodCountsOf(const GangWorkload& workload, const GangGroup& gang) {
  const std::vector<const EqGroup*> groups = GroupsOf(gang);
  std::vector<std::int32_t> required = CountsOf(gang);
  std::vector<std::int32_t> most = required;
  if (!workload.whole) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      required[i] = std::min(required[i], groups[i]->min_count.value_or(0));
    }
    const std::int64_t least = gang.min_count.value_or(0);
    AddInOrder(required, least - Sum(required),
               [&](std::size_t i) -> std::int64_t { return most[i]; });
    AddInOrder(most, gang.max_count.value_or(kUnbounded) - Sum(most),
               [&](std::size_t i) -> std::int64_t {
                 if (groups[i]->count) return most[i];  // there are no more
                 return groups[i]->max_count.value_or(gang.max_count ? kUnbounded : most[i]);
               });
  }
  std::vector<PodCounts> counts;
  for (std::size_t i = 0; i < most.size(); ++i) {
    const bool is_gang = workload.whole || gang.mode == GangMode::kGang;
    counts.push_back({is_gang ? required[i] : 0, most[i]});
  }
  return counts;
}

}  // namespace espalier
