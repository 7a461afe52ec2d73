// Pod groups of the scheduler plugins (coscheduling) and of Volcano, and Volcano's Jobs.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/sources/group_tree.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/kai_metadata.hpp"
#include "host/readers/sources/pod_groups.hpp"
#include "host/readers/sources/pod_members.hpp"
#include "host/readers/sources/running_pods.hpp"
#include "host/readers/sources/source_kinds.hpp"
#include "host/readers/volcano_objects.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

// Returns what the pods of a gang request in all, those that run included.
Resources RequestsOf(const GangGroup& gang) {
  Resources requests;
  for (const EqGroup* group : GroupsOf(gang)) {
    if (!group->pod_template) continue;
    AddTo(requests, Times(group->pod_template->requests, group->max_count.value_or(0)));
  }
  return requests;
}

// The least that a group is to get: pods that have a place have it, unless it is more than all of
// them request.
void NoteMinResources(JsonValue spec, const SourceContext& context, GangWorkload& workload) {
  const Resources least = ResourcesMember(spec, "minResources", context.read);
  if (workload.gang_groups.empty() || workload.gang_groups.front().ranked_groups.empty()) return;
  const Resources requests = RequestsOf(workload.gang_groups.front());
  for (const auto& [resource, amount] : least) {
    const Amount* requested = requests.Find(resource);
    if (requested != nullptr && *requested >= amount) continue;
    workload.notes.push_back(fmt::format(
        "minResources asks for more {} than all of its pods do: it is not honoured", resource));
  }
}

// Requires or prefers the level of a tier of HyperNodes. Makes the workload wait where there is no
// such tier.
void ReadNetworkTopology(JsonValue parent, const std::string& of, const SourceContext& context,
                         GroupTopologyRequest& request, GangWorkload& workload) {
  const auto network = ObjectMember(parent, "networkTopology", context.read);
  if (!network) return;
  WarnOfUnknownFields(*network, {"mode", "highestTierAllowed", "highestTierName"}, context.read);
  const bool soft = Member(*network, "mode") &&
                    ReadWord(*network, "mode", {"hard", "soft"}, context.read) == "soft";
  const std::vector<NetworkTier>& tiers = context.defaults.network_tiers;
  const std::string name = TextMember(*network, "highestTierName", context.read);
  const auto number = Int32Member(*network, "highestTierAllowed", context.read);
  const NetworkTier* highest = nullptr;
  bool anywhere = false;
  if (!name.empty()) {
    const auto named = std::ranges::find(tiers, name, &NetworkTier::name);
    if (named != tiers.end()) highest = &*named;
  } else if (soft && !number) {
    if (!tiers.empty()) highest = &tiers.front();
  } else {
    const std::int32_t most = number.value_or(1);
    for (const NetworkTier& tier : tiers) {
      if (tier.number <= most) highest = &tier;
    }
    anywhere = !tiers.empty() && most > tiers.back().number;
  }
  if (anywhere) return;
  if (highest == nullptr) {
    if (soft) {
      workload.notes.push_back(fmt::format(
          "networkTopology of {} is not honoured: no HyperNode of the input has its tier", of));
    } else if (workload.waits_for.empty()) {
      workload.waits_for = fmt::format(
          "networkTopology of {} allows no tier above {}, and no HyperNode of the input has that "
          "tier or a lower one",
          of, name.empty() ? fmt::format("{}", number.value_or(1)) : Excerpt(name));
    }
    return;
  }
  workload.head.topology_name = kHyperNodeTopology;
  request.levels.emplace();
  (soft ? request.levels->preferred : request.levels->required) = highest->level;
}

// All pods of a Volcano pod group, and which task each of them is of.
struct TaskPods {
  std::string task;
  PartMembers members;
};

std::vector<TaskPods> TakeTasks(Members& members, const std::string& name_space,
                                const std::string& name) {
  std::vector<TaskPods> tasks;
  auto it = members.lower_bound({name_space, {Kind::kVolcanoPodGroup, name}});
  while (it != members.end() && it->first.first == name_space &&
         it->first.second.kind == Kind::kVolcanoPodGroup && it->first.second.name == name) {
    tasks.push_back({it->first.second.part, std::move(it->second)});
    it = members.erase(it);
  }
  return tasks;
}

// Adds pods to a group, equal ones to those that are there.
void AddPods(const MemberPods& pods, NamedGroup& group) {
  RankedGroup& ranked = *group.pods;
  group.seen += pods.group.max_count.value_or(0);
  group.bound += static_cast<std::int32_t>(RunningPodsOf(pods.group));
  for (EqGroup& known : ranked.eq_groups) {
    if (!AreAlike(*known.pod_template, *pods.group.pod_template)) continue;
    known.max_count = *known.max_count + pods.group.max_count.value_or(0);
    known.running.insert(known.running.end(), pods.group.running.begin(), pods.group.running.end());
    MergeRunning(known);
    return;
  }
  EqGroup& added = ranked.eq_groups.emplace_back(pods.group);
  added.name = fmt::format("main-{}", ranked.eq_groups.size() - 1);
}

NamedGroup GroupOfPods(std::string name) {
  NamedGroup group;
  group.name = std::move(name);
  group.pods.emplace();
  return group;
}

// A policy by which pods of a group fall into subgroups.
struct SubGroupPolicy {
  StringMap labels;
  std::vector<std::string> keys;  // pods with equal values of these are one subgroup
  std::int32_t size = 0;          // of a subgroup; 0: whatever there is
  NamedGroup group;
};

SubGroupPolicy ReadSubGroupPolicy(JsonValue object, const SourceContext& context,
                                  GangWorkload& workload) {
  WarnOfUnknownFields(object,
                      {"name", "subGroupSize", "minSubGroups", "labelSelector", "matchLabelKeys",
                       "networkTopology"},
                      context.read);
  SubGroupPolicy policy;
  policy.group.name = RequiredText(object, "name", context.read);
  policy.size = Int32Member(object, "subGroupSize", context.read, 1).value_or(0);
  policy.group.min_groups = Int32Member(object, "minSubGroups", context.read, 1);
  policy.keys = TextListMember(object, "matchLabelKeys", context.read);
  if (const auto selector = ObjectMember(object, "labelSelector", context.read)) {
    WarnOfUnknownFields(*selector, {"matchLabels"}, context.read);
    policy.labels = TextMapMember(*selector, "matchLabels", context.read);
  }
  ReadNetworkTopology(object, "subgroup " + policy.group.name, context,
                      policy.group.topology_request, workload);
  return policy;
}

bool Matches(const SubGroupPolicy& policy, const StringMap& labels) {
  return std::ranges::all_of(policy.labels, [&](const auto& label) {
    const std::string* value = labels.Find(label.first);
    return value != nullptr && *value == label.second;
  });
}

// The subgroups of one policy, made of the pods that match it, which are taken out of `tasks`.
NamedGroup SubGroupsOf(SubGroupPolicy policy, std::vector<TaskPods>& tasks) {
  std::map<std::string, NamedGroup> by_values;
  for (TaskPods& task : tasks) {
    std::erase_if(task.members.pods, [&](const MemberPods& pods) {
      const StringMap& labels = pods.group.pod_template->labels;
      if (!Matches(policy, labels)) return false;
      std::string name = policy.group.name;
      for (const std::string& key : policy.keys) {
        const std::string* value = labels.Find(key);
        name += "-" + (value == nullptr ? std::string() : *value);
      }
      AddPods(pods, by_values.try_emplace(name, GroupOfPods(name)).first->second);
      return true;
    });
  }
  NamedGroup all = std::move(policy.group);
  for (auto& [name, group] : by_values) {
    group.min_pods = policy.size == 0 ? group.seen : policy.size;
    group.topology_request = all.topology_request;
    all.groups.push_back(std::move(group));
  }
  all.topology_request = {};  // each subgroup's own
  return all;
}

std::optional<std::int32_t> MinOf(const std::map<std::string, std::int32_t>& of_tasks,
                                  const std::string& task) {
  const auto known = of_tasks.find(task);
  return known == of_tasks.end() ? std::nullopt : std::optional(known->second);
}

std::map<std::string, std::int32_t> ReadTaskMinimums(JsonValue spec, const SourceContext& context) {
  std::map<std::string, std::int32_t> minimums;
  const auto tasks = ObjectMember(spec, "minTaskMember", context.read);
  if (!tasks) return minimums;
  for (const auto [task, least] : Fields(*tasks)) {
    if (const auto pods = Int32Value(least, context.read)) minimums[std::string(task)] = *pods;
  }
  return minimums;
}

}  // namespace

void ReadCoschedulingPodGroup(JsonValue object, const SourceContext& context, Members& members,
                              std::vector<GangWorkload>& workloads) {
  GangWorkload of_all = BeginWorkload(object, context);
  of_all.true_workload.reset();
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  WarnOfUnknownFields(*spec, {"minMember", "minResources", "scheduleTimeoutSeconds"}, context.read);
  const std::string name = of_all.head.key.name;
  const PartMembers taken =
      TakeMembers(members, of_all.head.key.namespace_, {Kind::kCoschedulingPodGroup, name});
  ApplyKaiMetadata(object, &taken, context, of_all);
  GangGroup gang;
  gang.name = "gg";
  gang.pod_group = name;
  gang.min_count = Int32Member(*spec, "minMember", context.read).value_or(1);
  gang.schedule_timeout_seconds = Int32Member(*spec, "scheduleTimeoutSeconds", context.read);
  workloads.push_back(OneGang(of_all, std::move(gang), taken, name));
  NoteMinResources(*spec, context, workloads.back());
  if (taken.pods.empty()) WaitForFirstPods(workloads.back());
}

void AddLabelledGroups(const SourceContext& context, Members& members,
                       std::vector<GangWorkload>& workloads) {
  constexpr std::string_view kMinAvailable = "pod-group.scheduling.sigs.k8s.io/min-available";
  std::vector<std::pair<std::string, PartReference>> labelled;
  for (const auto& [key, of_group] : members) {
    if (key.second.kind != Kind::kCoschedulingPodGroup || of_group.pod == nullptr) continue;
    if (!LabelOf(of_group.pod->value, kMinAvailable).empty()) labelled.push_back(key);
  }
  for (const auto& [name_space, reference] : labelled) {
    const PartMembers taken = TakeMembers(members, name_space, reference);
    const JsonValue pod = taken.pod->value;
    GangWorkload of_all;
    of_all.head.key = {name_space, reference.name};
    of_all.source = "v1 Pod";
    ApplyKaiMetadata(pod, &taken, context, of_all);
    GangGroup gang;
    gang.name = "gg";
    gang.pod_group = reference.name;
    const auto least = ParseInteger<std::int32_t>(LabelOf(pod, kMinAvailable));
    gang.min_count = least.value_or(1);
    workloads.push_back(OneGang(of_all, std::move(gang), taken, reference.name));
    if (!least || *least < 1) {
      workloads.back().waits_for =
          fmt::format("label {} of its pods is {}, which is no number of pods", kMinAvailable,
                      Excerpt(LabelOf(pod, kMinAvailable)));
    }
  }
}

void ReadVolcanoPodGroup(JsonValue object, const SourceContext& context, Members& members,
                         std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  workload.true_workload.reset();
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  WarnOfUnknownFields(*spec,
                      {"minMember", "minTaskMember", "queue", "priorityClassName", "minResources",
                       "networkTopology", "subGroupPolicy"},
                      context.read);
  const std::string name = workload.head.key.name;
  std::vector<TaskPods> tasks = TakeTasks(members, workload.head.key.namespace_, name);
  PartMembers first;  // for what its pods say of it
  if (!tasks.empty()) {
    first.pod = tasks.front().members.pod;
    first.owner = tasks.front().members.owner;
  }
  ApplyKaiMetadata(object, &first, context, workload);
  if (workload.head.queue_name.empty()) {
    workload.head.queue_name = TextMember(*spec, "queue", context.read);
  }
  if (workload.head.queue_name.empty()) workload.head.queue_name = "default";
  ReadGroupPriority(*spec, context, workload.head);
  ReadNetworkTopology(*spec, "the group", context, workload.topology_request, workload);
  const std::map<std::string, std::int32_t> of_tasks = ReadTaskMinimums(*spec, context);
  NamedGroup root;
  ReadList(*spec, "subGroupPolicy", context.read, [&](JsonValue item) {
    NamedGroup group = SubGroupsOf(ReadSubGroupPolicy(item, context, workload), tasks);
    if (!group.groups.empty()) {
      root.groups.push_back(std::move(group));
    } else if (group.min_groups && workload.waits_for.empty()) {
      workload.waits_for = fmt::format(
          "none of the pods of subgroup {} is there: it waits for them", Excerpt(group.name));
    }
    return 0;
  });
  std::set<std::string> seen_tasks;
  for (TaskPods& task : tasks) {
    if (task.members.pods.empty()) continue;
    seen_tasks.insert(task.task);
    NamedGroup group = GroupOfPods(task.task.empty() ? "rg" : task.task);
    for (const MemberPods& pods : task.members.pods) AddPods(pods, group);
    group.min_pods = MinOf(of_tasks, task.task).value_or(0);
    root.groups.push_back(std::move(group));
  }
  for (const auto& [task, least] : of_tasks) {
    if (least == 0 || seen_tasks.contains(task) || !root.groups.empty()) continue;
    workload.waits_for =
        fmt::format("none of the pods of task {} is there: it waits for them", task);
  }
  const std::string waits_for = workload.waits_for;
  GangGroup gang;
  gang.name = "gg";
  gang.pod_group = name;
  const bool one_group = root.groups.size() == 1 && root.groups[0].pods;
  const GroupFacts facts = AddGroups(std::move(root), "group", gang, workload);
  if (one_group && gang.ranked_groups.size() == 1) {
    RankedGroup& ranked = gang.ranked_groups.front();
    if (ranked.eq_groups.size() == 1) ranked.eq_groups.front().name = "main";
  }
  if (!waits_for.empty()) workload.waits_for = waits_for;
  gang.min_count =
      std::max(Int32Member(*spec, "minMember", context.read).value_or(1), facts.needed);
  LetStartOneByOne(workload.gang_groups.emplace_back(std::move(gang)));
  WaitForPods(facts.seen, workload.gang_groups.back(), workload);
  workload.running = facts.seen > 0 && facts.seen == facts.bound;
  NoteMinResources(*spec, context, workload);
  if (facts.seen == 0) WaitForFirstPods(workload);
  workloads.push_back(std::move(workload));
}

void ReadVolcanoJob(JsonValue object, const SourceContext& context,
                    std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  WarnOfUnknownFields(*spec,
                      {"schedulerName", "minAvailable", "minSuccess", "volumes", "tasks",
                       "policies", "plugins", "runningEstimate", "queue", "maxRetry",
                       "ttlSecondsAfterFinished", "priorityClassName", "networkTopology"},
                      context.read);
  GangGroup gang;
  gang.name = "gg";
  std::int64_t all = 0;  // that it needs where it does not say how many
  std::vector<JsonValue> templates;
  ReadNetworkTopology(*spec, "the Job", context, workload.topology_request, workload);
  ReadList(*spec, "tasks", context.read, [&](JsonValue task) {
    WarnOfUnknownFields(task,
                        {"name", "replicas", "minAvailable", "template", "policies",
                         "topologyPolicy", "maxRetry", "dependsOn", "partitionPolicy"},
                        context.read);
    const auto pods = RequiredObject(task, "template", "the pod template", context);
    if (!pods) return 0;
    std::string name = TextMember(task, "name", context.read);
    if (name.empty()) name = fmt::format("task-{}", gang.ranked_groups.size());
    const std::int32_t replicas = Int32Member(task, "replicas", context.read).value_or(1);
    EqGroup group = ReadEqGroup(name, *pods, replicas, {}, context);
    group.min_count = Int32Member(task, "minAvailable", context.read);
    if (group.min_count) group.min_count = std::min(*group.min_count, replicas);
    if (const auto partitions = ObjectMember(task, "partitionPolicy", context.read)) {
      WarnOfUnknownFields(*partitions,
                          {"totalPartitions", "partitionSize", "minPartitions", "networkTopology"},
                          context.read);
      GroupTopologyRequest of_each;
      ReadNetworkTopology(*partitions, "a partition of task " + name, context, of_each, workload);
      const auto size = Int32Member(*partitions, "partitionSize", context.read, 1);
      if (of_each.levels && of_each.levels->required && size) {
        group.topology_request.segments = SliceConstraint{*of_each.levels->required, *size};
      }
    }
    if (Member(task, "dependsOn")) {
      workload.notes.push_back(
          fmt::format("dependsOn of task {} is not honoured: its pods are placed with the others",
                      Excerpt(name)));
    }
    all += group.min_count.value_or(replicas);
    templates.push_back(*pods);
    AddRankedGroup(gang, std::move(group), "volcano.sh/task-index");
    return 0;
  });
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  gang.min_count = Int32Member(*spec, "minAvailable", context.read).value_or(0);
  if (*gang.min_count == 0) {  // as Volcano's webhook fills it in
    gang.min_count = static_cast<std::int32_t>(std::min(all, kMost));
  }
  if (workload.head.queue_name.empty()) {
    workload.head.queue_name = TextMember(*spec, "queue", context.read);
  }
  if (workload.head.queue_name.empty()) workload.head.queue_name = "default";
  FinishWorkload(workload, object, templates, context);
  ReadGroupPriority(*spec, context, workload.head);
  const auto status = ObjectMember(object, "status", context.read);
  const auto state = status ? ObjectMember(*status, "state", context.read) : std::nullopt;
  const std::string phase = state ? TextMember(*state, "phase", context.read) : std::string();
  if (phase == "Running") workload.running = true;
  if (phase == "Completed" || phase == "Failed" || phase == "Terminated" || phase == "Aborted") {
    workload.head.conditions.push_back({"Finished", "True", phase, ""});
  }
  LetStartOneByOne(gang);
  if (!gang.ranked_groups.empty()) workload.gang_groups.push_back(std::move(gang));
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
