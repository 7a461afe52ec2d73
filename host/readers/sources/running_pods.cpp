#include "host/readers/sources/running_pods.hpp"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <map>
#include <string>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/gangs/expand.hpp"
#include "host/gangs/gang_counts.hpp"
#include "host/readers/sources/part_members.hpp"

namespace espalier {
namespace {

// "3 on b2r2h1, 1 on b2r2h2"
std::string NodesOf(const GangGroup& gang) {
  constexpr std::size_t kMostNamed = 5;
  std::map<std::string_view, std::int32_t> pods_on;
  for (const EqGroup* group : GroupsOf(gang)) {
    for (const RunningPods& running : group->running) pods_on[running.node] += running.pods;
  }
  std::string text;
  std::size_t named = 0;
  for (const auto& [node, pods] : pods_on) {
    if (named == kMostNamed) break;
    text += fmt::format("{}{} on {}", named++ == 0 ? "" : ", ", pods, node);
  }
  if (pods_on.size() > named) text += fmt::format(", and on {} more", pods_on.size() - named);
  return text;
}

std::string TimeText(std::int64_t unix_seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(unix_seconds)));
}

std::int64_t TimeoutOf(const GangGroup& gang) {
  return gang.schedule_timeout_seconds.value_or(kDefaultScheduleTimeout);
}

// Notes which pods of a gang that is scheduled in part hold room for nothing, and until when the
// others have time (W8.5).
void NoteHeldRoom(const GangGroup& gang, GangWorkload& workload) {
  const std::int64_t timeout = TimeoutOf(gang);
  for (const EqGroup* group : GroupsOf(gang)) {
    for (const RunningPods& running : group->running) {
      if (running.pending.empty()) continue;
      std::string text = fmt::format("{} of gangGroup {} {} room on {} for nothing",
                                     fmt::join(running.pending, ", "), gang.name,
                                     running.pending.size() == 1 ? "holds" : "hold", running.node);
      if (running.pending_since != 0) {
        text += fmt::format(
            " since {}; its scheduleTimeoutSeconds of {} end at {}, when all of it "
            "goes back to the queue",
            TimeText(running.pending_since), timeout, TimeText(running.pending_since + timeout));
      }
      workload.notes.push_back(std::move(text));
    }
  }
}

// Returns whether a request says where its pods are to be.
bool IsAsked(const GroupTopologyRequest& request) {
  return Binds(request) || !request.claims.empty() || request.segments ||
         !request.also_required.empty();
}

}  // namespace

void ShareMinimum(std::int32_t least, RankedGroup& ranked) {
  for (EqGroup& group : ranked.eq_groups) {
    group.min_count = std::min(least, static_cast<std::int32_t>(RunningPodsOf(group)));
    least -= *group.min_count;
  }
  for (EqGroup& group : ranked.eq_groups) {
    const std::int32_t more = std::min(least, group.max_count.value_or(0) - *group.min_count);
    group.min_count = *group.min_count + more;
    least -= more;
  }
}

void WaitForPods(std::int32_t seen, GangGroup& gang, GangWorkload& workload) {
  const bool alone = workload.gang_groups.size() == 1;
  if (const std::int64_t running = RunningPodsOf(gang); running > 0) {
    workload.notes.push_back(fmt::format("{} of {} {} pods run already: {}", running,
                                         alone ? "its" : gang.name + "'s", seen, NodesOf(gang)));
  }
  if (gang.max_count && seen > *gang.max_count) {
    workload.notes.push_back(
        fmt::format("{} above the maxCount of {} of gangGroup {} {} not placed",
                    CountedPods(seen - *gang.max_count), *gang.max_count, gang.name,
                    seen - *gang.max_count == 1 ? "is" : "are"));
  }
  if (gang.mode == GangMode::kOff) {
    for (RankedGroup& ranked : gang.ranked_groups) {
      for (EqGroup& group : ranked.eq_groups) {
        group.min_count = group.count ? group.count : group.max_count;
      }
    }
    return;
  }
  const std::int32_t needed = gang.min_count.value_or(0);
  if (RunningPodsOf(gang) < needed) NoteHeldRoom(gang, workload);
  if (seen >= needed || !gang.waits_for.empty()) return;
  gang.waits_for =
      fmt::format("{} of the {} pods that {} needs are there: it waits for the others", seen,
                  needed, alone ? workload.head.key.name : "gangGroup " + gang.name);
}

void WaitForFirstPods(GangWorkload& workload) {
  if (!workload.waits_for.empty()) return;
  workload.waits_for = "none of its pods is there: it waits for them";
}

void AddRunningPods(std::span<const JsonValue> pods, GangWorkload& workload) {
  if (workload.replica_mode != ReplicaMode::kUnreplicated && !workload.whole) return;
  if (workload.gang_groups.size() != 1 || GroupsOf(workload.gang_groups.front()).size() != 1)
    return;
  const GangGroup& gang = workload.gang_groups.front();
  RankedGroup& ranked = workload.gang_groups.front().ranked_groups.front();
  EqGroup& group = ranked.eq_groups.front();
  if (!IsAsked(workload.topology_request) && !IsAsked(gang.topology_request) &&
      !IsAsked(ranked.topology_request) && !IsAsked(group.topology_request) && !group.apart &&
      group.kept_apart.empty()) {
    return;
  }
  for (const JsonValue pod : pods) {
    RunningPods& running = group.running.emplace_back();
    running.pods = 1;
    if (const auto spec = Member(pod, "spec")) running.node = TextOf(*spec, "nodeName");
    if (const auto metadata = Member(pod, "metadata")) {
      running.names.emplace_back(TextOf(*metadata, "name"));
    }
  }
  MergeRunning(group);
}

std::vector<std::string> Requeue(std::int64_t now, GangGroup& gang, GangWorkload& workload) {
  std::vector<std::string> names;
  if (gang.mode != GangMode::kGang || RunningPodsOf(gang) >= gang.min_count.value_or(0)) {
    return names;
  }
  const auto is_late = [&](const RunningPods& running) {
    return running.pending_since != 0 && running.pending_since + TimeoutOf(gang) <= now;
  };
  const auto groups = GroupsOf(gang);
  if (std::ranges::none_of(groups, [&](const EqGroup* group) {
        return std::ranges::any_of(group->running, is_late);
      })) {
    return names;
  }
  for (RankedGroup& ranked : gang.ranked_groups) {
    for (EqGroup& group : ranked.eq_groups) {
      for (RunningPods& running : group.running) {
        running.pods -= static_cast<std::int32_t>(running.pending.size());
        std::erase_if(running.names, [&](const std::string& name) {
          return std::ranges::find(running.pending, name) != running.pending.end();
        });
        std::ranges::move(running.pending, std::back_inserter(names));
        running.pending.clear();
        running.pending_since = 0;
      }
      std::erase_if(group.running, [](const RunningPods& running) { return running.pods <= 0; });
    }
  }
  workload.notes.push_back(
      fmt::format("gangGroup {} was scheduled in part for longer than its scheduleTimeoutSeconds "
                  "of {}: it goes "
                  "back to the queue whole, without {}",
                  gang.name, TimeoutOf(gang), fmt::join(names, ", ")));
  return names;
}

void NodeLabels::Describe(GangWorkload& workload) {
  if (nodes_.empty()) return;
  for (GangGroup& gang : workload.gang_groups) {
    for (RankedGroup& ranked : gang.ranked_groups) {
      for (EqGroup& group : ranked.eq_groups) {
        for (RunningPods& running : group.running) Describe(running, workload);
      }
    }
  }
}

void NodeLabels::Describe(RunningPods& running, GangWorkload& workload) {
  if (by_name_.empty()) {
    for (const Node& node : nodes_) by_name_.emplace(node.name, &node);
  }
  const auto node = by_name_.find(running.node);
  if (node != by_name_.end()) {
    running.labels = node->second->labels;
    return;
  }
  workload.notes.push_back(fmt::format("{} {} on node {}, which is not in the input",
                                       CountedPods(running.pods),
                                       running.pods == 1 ? "runs" : "run", running.node));
}

}  // namespace espalier
