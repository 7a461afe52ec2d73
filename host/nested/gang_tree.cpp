#include "host/nested/gang_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/gangs/gang_counts.hpp"

namespace espalier {
namespace {

NestedGroup Named(const std::string& name, const GroupTopologyRequest& request) {
  NestedGroup group;
  group.name = name;
  if (!request.levels) return group;
  group.required = request.levels->required;
  group.preferred = request.levels->preferred;
  return group;
}

// Slices or segments of the pods of a group, coarsest first; empty: none.
std::vector<SliceConstraint> SlicesOf(const GroupTopologyRequest& request) {
  if (request.segments) return {*request.segments};
  if (!request.levels) return {};
  if (!request.levels->slice_constraints.empty()) return request.levels->slice_constraints;
  if (!request.levels->slice_topology || !request.levels->slice_size) return {};
  return {{*request.levels->slice_topology, *request.levels->slice_size}};
}

bool HasPlaceOfItsOwn(const NestedGroup& group) {
  return group.required || group.preferred || !group.pods;
}

class TreeMaker {
 public:
  TreeMaker(const GangWorkload& workload, const WorkloadRequest& planned,
            std::span<const std::string> levels)
      : workload_(workload), planned_(planned.pod_sets), levels_(levels) {}

  Result<NestedRequest> Make() {
    NestedRequest request;
    request.key = workload_.head.key;
    request.root = Named(workload_.head.key.name, workload_.topology_request);
    const std::span<const GangGroup> gangs = workload_.gang_groups;
    std::vector<std::string> running;
    bool needs_others = false;
    for (const GangGroup& gang : gangs) {
      NestedGroup& group = request.root.groups.emplace_back(GangOf(gang));
      const bool is_free = IsBestEffort(workload_, gang) && RunningPodsOf(gang) == 0;
      if (is_free) DropPreferences(group);
      needs_others = needs_others || !is_free;
      AddRunning(gang, running);
    }
    if (!needs_others) request.root.preferred.reset();
    AddRunning(workload_.beside, running);
    StayWith(running, request.root);
    if (gangs.size() > 1 && !workload_.whole) {
      request.root.in_order = workload_.in_order;
      for (NestedGroup& gang : request.root.groups) gang.min_copies = 0;
    }
    if (!problem_.empty()) return BadInput(problem_);
    if (next_ < planned_.size()) {
      return BadInput(fmt::format("pod set {} is not in its tree", planned_[next_].name));
    }
    if (!planned_.empty()) request.flavor = planned_[0].flavor;
    return request;
  }

 private:
  NestedGroup GangOf(const GangGroup& gang) {
    NestedGroup group = Named(gang.name, gang.topology_request);
    group.apart = !workload_.exclusive_level.empty() && group.required.has_value();
    group.copies = std::max(CopiesOfGang(workload_), 1);
    if (group.copies > 1) group.min_copies = 0;
    std::vector<PodCounts> counts = PodCountsOf(workload_, gang);
    if (workload_.replica_mode == ReplicaMode::kReplicatedPods) CountPodByPod(counts);
    std::size_t index = 0;
    std::vector<NestedGroup> ranked_groups;
    for (const RankedGroup& ranked : gang.ranked_groups) {
      NestedGroup& inner = ranked_groups.emplace_back(Named(ranked.name, ranked.topology_request));
      for (const EqGroup& eq_group : ranked.eq_groups) {
        const PodCounts& pods = counts[index++];
        if (pods.most > 0) inner.groups.push_back(PodsOf(eq_group, pods, {&ranked, &gang}));
      }
      GroupPodSets(ranked.eq_groups, inner, 1);
      std::vector<std::string> running;
      AddRunning(ranked, running);
      StayWith(running, inner);
      const bool several = !ranked.rank_from.empty() && inner.groups.size() > 1;
      if (ranked.ranks.placement != RankPlacement::kByPath) {
        SetRanks(ranked.ranks, inner);
      } else if (gang.ranks.placement == RankPlacement::kByPath && several &&
                 std::ranges::none_of(inner.groups, HasPlaceOfItsOwn)) {
        inner.ranks = RankPlacement::kContiguous;
      }
    }
    if (ranked_groups.size() > 1) BringApartTogether(gang, ranked_groups);
    std::size_t next = 0;
    AddInside(gang, -1, ranked_groups, next, group);
    SetLeast(gang.min_groups, group);
    SetRanks(gang.ranks, group);
    if (gang.ranked_groups.size() > 1 && gang.middle_groups.empty()) {
      std::vector<EqGroup> all;
      for (const EqGroup* eq_group : GroupsOf(gang)) all.push_back(*eq_group);
      GroupPodSets(all, group, 2);
    }
    std::vector<std::string> running;
    AddRunning(gang, running);
    StayWith(running, group);
    return group;
  }

  // Runs of pods that have domains to themselves are apart from those of other ranked groups too:
  // they are beside each other, in place of the ranked groups.
  void BringApartTogether(const GangGroup& gang, std::vector<NestedGroup>& ranked_groups) {
    for (std::size_t i = 0; i < ranked_groups.size(); ++i) {
      const RankedGroup& ranked = gang.ranked_groups[i];
      if (std::ranges::none_of(ranked.eq_groups,
                               [](const EqGroup& one) { return one.apart.has_value(); })) {
        continue;
      }
      NestedGroup& group = ranked_groups[i];
      if (group.groups.empty()) continue;  // of no pods
      const bool is_plain = group.groups.size() == 1 && group.groups[0].groups.size() == 1 &&
                            !group.required && !group.preferred && gang.middle_groups.empty() &&
                            group.ranks == RankPlacement::kByPath && !group.groups[0].required &&
                            !group.groups[0].preferred;
      if (!is_plain) {
        return Fail(
            fmt::format("group {}: its pods are to be apart from those of other groups, "
                        "which is not honoured beside other requests",
                        ranked.name));
      }
      NestedGroup runs = std::move(group.groups[0].groups[0]);
      runs.name = ranked.name;
      group = std::move(runs);
    }
  }

  // Moves the ranked groups from `next` on that are inside a middle group, or in none of them for
  // -1, into the group of the tree that stands for it, with the middle groups around them.
  void AddInside(const GangGroup& gang, std::int32_t middle,
                 std::vector<NestedGroup>& ranked_groups, std::size_t& next, NestedGroup& around) {
    while (next < ranked_groups.size()) {
      std::int32_t inner = -1;  // around the next ranked group, right inside of `middle`
      std::int32_t at = gang.ranked_groups[next].within;
      for (; at != middle && at >= 0; at = Middle(gang, at).within) inner = at;
      if (at != middle) return;
      if (inner < 0) {
        around.groups.push_back(std::move(ranked_groups[next++]));
        continue;
      }
      const MiddleGroup& group = Middle(gang, inner);
      NestedGroup child = Named(group.name, group.topology_request);
      std::vector<std::string> running;
      for (std::size_t i = next; i < gang.ranked_groups.size(); ++i) {
        if (IsWithin(gang, gang.ranked_groups[i].within, inner)) {
          AddRunning(gang.ranked_groups[i], running);
        }
      }
      StayWith(running, child);
      AddInside(gang, inner, ranked_groups, next, child);
      SetLeast(group.min_groups, child);
      around.groups.push_back(std::move(child));
    }
  }

  // At least so many of the groups inside are placed; not said, or as many as there are: all.
  static void SetLeast(const std::optional<std::int32_t>& least, NestedGroup& group) {
    if (least && *least < std::ssize(group.groups)) group.min_groups = *least;
  }

  static void SetRanks(const RankRequest& request, NestedGroup& group) {
    group.ranks = request.placement;
    group.rank_level = request.level;
  }

  // Pod sets of one group share a domain: what they ask for, `around`, so many levels above them,
  // asks for them together.
  static void GroupPodSets(const std::vector<EqGroup>& eq_groups, NestedGroup& around, int levels) {
    const auto name_of = [](const EqGroup& group) {
      const auto& request = group.topology_request.levels;
      return request ? request->pod_set_group_name.value_or("") : std::string();
    };
    if (eq_groups.size() < 2 || name_of(eq_groups[0]).empty()) return;
    const bool all = std::ranges::all_of(
        eq_groups, [&](const EqGroup& group) { return name_of(group) == name_of(eq_groups[0]); });
    if (!all) return;
    const NestedGroup asked = Named("", eq_groups[0].topology_request);
    if (asked.required) around.required = asked.required;
    if (asked.preferred) around.preferred = asked.preferred;
    DropRequests(around, levels);
  }

  // A group of which nothing is required goes to the first domain of a level that it prefers, and
  // the pods without room there nowhere (R25.2). Without one they fill the domains around it, the
  // fullest first (R25.6), which brings them together without keeping any of them back.
  static void DropPreferences(NestedGroup& group) {
    group.preferred.reset();
    for (NestedGroup& child : group.groups) DropPreferences(child);
  }

  static void DropRequests(NestedGroup& around, int levels) {
    for (NestedGroup& group : around.groups) {
      group.required.reset();
      group.preferred.reset();
      if (levels > 1) DropRequests(group, levels - 1);
    }
  }

  // Each pod is a replica that needs no other; they are of one shape.
  void CountPodByPod(std::vector<PodCounts>& counts) const {
    for (PodCounts& pods : counts) pods.required = 0;
    if (!workload_.replicas || counts.empty()) return;
    for (PodCounts& pods : counts) pods.most = 0;
    counts[0].most = *workload_.replicas;
  }

  struct Around {
    const RankedGroup* ranked = nullptr;
    const GangGroup* gang = nullptr;
  };

  // The topology requests of an equivalence group and of those around it, innermost first.
  using Requests = std::vector<const GroupTopologyRequest*>;

  NestedGroup PodsOf(const EqGroup& eq_group, const PodCounts& counts, const Around& around) {
    NestedGroup group = Named(eq_group.name, eq_group.topology_request);
    NestedPodSet pods;
    pods.min_count = counts.required;
    pods.max_count = counts.most;
    TakePlanned(eq_group, pods);
    const Requests requests = RequestsAround(workload_, *around.gang, *around.ranked, &eq_group);
    std::vector<SliceConstraint> slices;
    for (std::size_t i = 0; i < requests.size() && slices.empty(); ++i) {
      slices = SlicesOf(*requests[i]);
      std::erase_if(slices, [&](const SliceConstraint& slice) {
        return HoldsWithin(requests, i, slice.topology);
      });
    }
    const bool is_apart =
        eq_group.apart && (pods.max_count > 1 || GroupsOf(*around.gang).size() > 1);
    if (is_apart) {
      if (!slices.empty() || !eq_group.running.empty()) {
        Fail(fmt::format("eqGroup {}: pods that have domains of {} to themselves are not placed {}",
                         eq_group.name, eq_group.apart->topology,
                         slices.empty() ? "beside others that run" : "in slices too"));
      }
      slices = {*eq_group.apart};
    }
    Slice(slices, pods, group);
    if (is_apart) {
      for (NestedGroup& run : group.groups) run.apart = true;
    }
    std::vector<std::string> running;
    AddRunning(eq_group.running, running);
    StayWith(running, group);
    return group;
  }

  // Adds the leaves that pods of a part run on, each once and in order.
  void AddRunning(std::span<const RunningPods> running, std::vector<std::string>& leaves) {
    for (const RunningPods& pods : running) {
      std::string leaf = LeafOf(pods);
      const auto at = std::ranges::lower_bound(leaves, leaf);
      if (at == leaves.end() || *at != leaf) leaves.insert(at, std::move(leaf));
    }
  }
  void AddRunning(const RankedGroup& ranked, std::vector<std::string>& leaves) {
    for (const EqGroup& eq_group : ranked.eq_groups) AddRunning(eq_group.running, leaves);
  }
  void AddRunning(const GangGroup& gang, std::vector<std::string>& leaves) {
    for (const RankedGroup& ranked : gang.ranked_groups) AddRunning(ranked, leaves);
  }

  // Returns the values of all levels of the node, or, of a host topology where they are not all
  // known, its host name, which is its own name where that is not known either.
  std::string LeafOf(const RunningPods& pods) {
    std::vector<std::string> values;
    for (const std::string& level : levels_) {
      const std::string* value = pods.labels.Find(level);
      if (value == nullptr) break;
      values.push_back(*value);
    }
    if (!levels_.empty() && values.size() == levels_.size()) {
      return fmt::format("{}", fmt::join(values, ","));
    }
    if (levels_.empty() || levels_.back() == kHostnameLabel) {
      const std::string* host = pods.labels.Find(kHostnameLabel);
      return host == nullptr ? pods.node : *host;
    }
    Fail(fmt::format("pods of it run on node {}, which has no label {}", pods.node,
                     levels_[values.size()]));
    return pods.node;
  }

  // Pods that run bind the others of a group that asks for a domain; any other may go anywhere.
  static void StayWith(std::vector<std::string>& running, NestedGroup& group) {
    if (group.required || group.preferred) group.running_on = std::move(running);
  }

  // Returns whether pods that share a domain of the finest level that is required inside of request
  // `i` share one of `level` too: whether `level` is that one or above it. Levels that are required
  // get finer inwards (W1.6).
  bool HoldsWithin(const Requests& requests, std::size_t i, const std::string& level) const {
    const auto inside = requests.begin() + static_cast<std::ptrdiff_t>(i);
    const auto finest = std::find_if(requests.begin(), inside, [](const auto* request) {
      return request->levels && request->levels->required;
    });
    if (finest == inside) return false;
    const auto shared = std::ranges::find(levels_, *(*finest)->levels->required);
    return shared != levels_.end() && std::ranges::find(levels_, level) <= shared;
  }

  // Shape and flavor are those of the next pod set that was planned.
  void TakePlanned(const EqGroup& eq_group, NestedPodSet& pods) {
    if (next_ == planned_.size()) {
      return Fail(fmt::format("eqGroup {} goes to no flavor with a topology", eq_group.name));
    }
    pods.pod_set = static_cast<std::int32_t>(next_);
    const PodSetRequest& planned = planned_[next_++];
    if (planned.flavor != planned_[0].flavor) {
      Fail(
          fmt::format("pod sets {} and {} go to the flavors {} and {}, but the parts of one tree "
                      "go to one flavor",
                      planned_[0].name, planned.name, planned_[0].flavor, planned.flavor));
    }
    pods.requests = planned.requests;
    pods.pod_template = planned.pod_template;
  }

  // Every slice is a copy of a group, those of a finer level inside the coarser; what is left
  // behind whole slices is a shorter one.
  void Slice(std::span<const SliceConstraint> slices, const NestedPodSet& pods,
             NestedGroup& group) {
    if (slices.empty()) {
      group.pods = pods;
      return;
    }
    const SliceConstraint& outer = slices.front();
    if (outer.size < 1) {
      return Fail(fmt::format("group {}: a slice has {} pods; it must have at least 1", group.name,
                              outer.size));
    }
    const std::int32_t whole = pods.max_count / outer.size;
    const std::int32_t rest = pods.max_count % outer.size;
    if (whole > 0) {
      const std::int32_t needed = pods.min_count > 0 ? (pods.min_count - 1) / outer.size + 1 : 0;
      AddSlice("slice", slices, {outer.size, whole, std::min(whole, needed)}, pods, group);
    }
    if (rest > 0) {
      const bool is_needed = pods.min_count > whole * outer.size;
      AddSlice("last", slices, {rest, 1, is_needed ? 1 : 0}, pods, group);
    }
  }

  struct SliceCounts {
    std::int32_t pods = 0;
    std::int32_t copies = 0;
    std::int32_t min_copies = 0;
  };

  void AddSlice(const char* name, std::span<const SliceConstraint> slices,
                const SliceCounts& counts, NestedPodSet pods, NestedGroup& group) {
    NestedGroup slice;
    slice.name = name;
    slice.required = slices.front().topology;
    slice.copies = counts.copies;
    slice.min_copies = counts.min_copies;
    pods.min_count = pods.max_count = counts.pods;
    Slice(slices.subspan(1), pods, slice);
    group.groups.push_back(std::move(slice));
  }

  void Fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  const GangWorkload& workload_;
  std::span<const PodSetRequest> planned_;
  std::span<const std::string> levels_;
  std::size_t next_ = 0;
  std::string problem_;
};

}  // namespace

Result<NestedRequest> TreeOf(const GangWorkload& workload, const WorkloadRequest& planned,
                             std::span<const std::string> levels) {
  return TreeMaker(workload, planned, levels).Make();
}

}  // namespace espalier
