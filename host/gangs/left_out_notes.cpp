#include "host/gangs/left_out_notes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"

namespace espalier {
namespace {

std::int32_t PodsIn(const EqGroup& group) {
  return group.max_count.value_or(group.min_count.value_or(0));
}

// Returns how many runs of pods of a gang are to have domains to themselves.
std::int64_t RunsApart(const GangGroup& gang) {
  std::int64_t runs = 0;
  for (const EqGroup* group : GroupsOf(gang)) {
    if (!group->apart || group->apart->size < 1) continue;
    runs += (std::int64_t{PodsIn(*group)} + group->apart->size - 1) / group->apart->size;
  }
  return runs;
}

}  // namespace

std::string LevelText(const TopologyRequest& request) {
  if (request.required) return "required " + *request.required;
  if (request.preferred) return "preferred " + *request.preferred;
  return request.unconstrained ? "unconstrained" : "slices";
}

bool IsRequirement(const TopologyRequest& request) {
  return request.required.has_value() || HasSlices(request);
}

void LeftOutNotes::NoteWhatNoneHonours() {
  for (const GangGroup& gang : workload_.gang_groups) {
    for (const RankedGroup& ranked : gang.ranked_groups) {
      if (ranked.eq_groups.empty()) {
        Note(fmt::format("rankedGroup {} has no pods of its own: nothing says which they are",
                         ranked.name));
      }
    }
  }
  if (workload_.replica_mode == ReplicaMode::kReplicatedGangs && !workload_.replicas) {
    Note("the number of replicas is not known: one is placed");
  }
}

void LeftOutNotes::NoteWhatFlatUnitsLeaveOut() {
  const bool many =
      !workload_.whole && (workload_.gang_groups.size() > 1 || workload_.replicas.value_or(1) > 1);
  if (many && AsksForLevels(workload_.topology_request)) {
    LeaveOut(
        fmt::format("topologyRequest of the workload: {} is not honoured, as its parts are placed "
                    "one by one",
                    LevelText(*workload_.topology_request.levels)),
        IsRequirement(*workload_.topology_request.levels));
  }
  if (!workload_.whole && workload_.gang_groups.size() > 1) {
    LeaveOut("its gangGroups are placed one after the other, each on its own");
  }
  const auto& level = workload_.exclusive_level;
  const bool has_domain = std::ranges::any_of(workload_.gang_groups, [&](const GangGroup& gang) {
    return gang.topology_request.levels && gang.topology_request.levels->required == level;
  });
  if (!level.empty() && (!has_domain || workload_.replicas.value_or(1) > 1)) {
    LeaveOut(fmt::format("that each replica has a domain of {} to itself is not honoured", level),
             true);
  }
  NoteSegments(workload_.topology_request, "the workload");
  for (const GangGroup& gang : workload_.gang_groups) {
    for (const EqGroup* group : GroupsOf(gang)) {
      NoteSegments(group->topology_request, "eqGroup " + group->name);
      NoteApart(*group, RunsApart(gang) > 1);
    }
    NoteRanks(gang.ranks, "gangGroup " + gang.name);
    for (const RankedGroup& ranked : gang.ranked_groups) {
      NoteRanks(ranked.ranks, "rankedGroup " + ranked.name);
    }
    NoteSpareGroups(gang);
    if (!workload_.whole) NoteGang(gang);
  }
}

// Notes where fewer groups would do than there are: all are placed.
void LeftOutNotes::NoteSpareGroups(const GangGroup& gang) {
  const auto note = [&](std::int32_t middle, const std::optional<std::int32_t>& least,
                        const std::string& name) {
    std::set<std::pair<std::int32_t, const RankedGroup*>> inside;
    for (const RankedGroup& ranked : gang.ranked_groups) {
      std::int32_t child = -1;
      std::int32_t at = ranked.within;
      for (; at >= 0 && at != middle; at = Middle(gang, at).within) child = at;
      if (at == middle) inside.emplace(child, child < 0 ? &ranked : nullptr);
    }
    if (!least || *least >= std::ssize(inside)) return;
    LeaveOut(fmt::format("all {} groups of {} are placed together; {} would do", inside.size(),
                         name, *least));
  };
  note(-1, gang.min_groups, workload_.head.key.name);
  for (std::size_t m = 0; m < gang.middle_groups.size(); ++m) {
    note(static_cast<std::int32_t>(m), gang.middle_groups[m].min_groups,
         gang.middle_groups[m].name);
  }
}

void LeftOutNotes::NoteRanks(const RankRequest& ranks, const std::string& of) {
  if (ranks.placement == RankPlacement::kByPath) return;
  LeaveOut(fmt::format("rankPlacement of {}: {}{} is not honoured", of, ToString(ranks.placement),
                       ranks.level ? " over " + *ranks.level : ""));
}

void LeftOutNotes::NoteApart(const EqGroup& group, bool several) {
  const std::int32_t pods = PodsIn(group);
  if (group.apart && (several || group.apart->size > 1)) {
    LeaveOut(fmt::format("that {} of eqGroup {} {} a domain of {} to {} is not honoured",
                         group.apart->size == 1 ? "each pod"
                                                : fmt::format("each {} pods", group.apart->size),
                         group.name, group.apart->size == 1 ? "has" : "have", group.apart->topology,
                         group.apart->size == 1 ? "itself" : "themselves"),
             true);
  }
  if (pods < 2) return;
  for (const std::string& kept_apart : group.kept_apart) {
    LeaveOut(fmt::format("{} of eqGroup {} is not honoured", kept_apart, group.name), true);
  }
}

void LeftOutNotes::NoteSegments(const GroupTopologyRequest& request, const std::string& of) {
  if (!request.segments) return;
  LeaveOut(fmt::format("segments of {} pods of {} in one domain of {} each are not honoured",
                       request.segments->size, of, request.segments->topology),
           true);
}

void LeftOutNotes::NoteGang(const GangGroup& gang) {
  if (!gang.waits_for.empty() || RunsEnough(gang)) return;
  const std::int64_t placed = TotalOf(CountsOf(workload_, gang)) + RunningPodsOf(gang);
  if (gang.mode == GangMode::kGang && gang.max_count && *gang.max_count > placed) {
    LeaveOut(fmt::format("gangGroup {}: {} of its at most {} pods are placed, as many as it needs",
                         gang.name, placed, *gang.max_count));
  }
}

void LeftOutNotes::NotePreferences(const GangGroup& gang) {
  if (!IsBestEffort(workload_, gang)) return;
  NotePreference(workload_.topology_request, "the workload");
  NotePreference(gang.topology_request, "gangGroup " + gang.name);
  NoteRanks(gang.ranks, "gangGroup " + gang.name);
  for (const RankedGroup& ranked : gang.ranked_groups) {
    NoteRanks(ranked.ranks, "rankedGroup " + ranked.name);
    NotePreference(ranked.topology_request, "rankedGroup " + ranked.name);
    for (const EqGroup& group : ranked.eq_groups) {
      NotePreference(group.topology_request, "eqGroup " + group.name);
    }
  }
}

void LeftOutNotes::NotePreference(const GroupTopologyRequest& request, const std::string& of) {
  if (!request.levels || !request.levels->preferred) return;
  Note(
      fmt::format("topologyRequest of {}: none of its pods needs another, so that preferred {} "
                  "keeps none of them back: they are packed into as few domains as hold them",
                  of, *request.levels->preferred));
}

void LeftOutNotes::LeaveOut(std::string text, bool broken) {
  any_ = true;
  if (broken && std::ranges::find(broken_, text) == broken_.end()) broken_.push_back(text);
  Note(std::move(text));
}

void LeftOutNotes::Note(std::string text) {
  if (std::ranges::find(workload_.notes, text) == workload_.notes.end()) {
    workload_.notes.push_back(std::move(text));
  }
}

}  // namespace espalier
