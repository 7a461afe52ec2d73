#include "host/readers/sources/pod_groups.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/group_tree.hpp"
#include "host/readers/sources/kai_metadata.hpp"
#include "host/readers/sources/part_reference.hpp"
#include "host/readers/sources/running_pods.hpp"
#include "host/readers/sources/topology_claims.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

// Lets a gang of policy basic without any pods ask for none.
void AskForNone(bool basic, const PartMembers& members, GangGroup& gang) {
  if (!basic || !members.pods.empty()) return;
  gang.mode = GangMode::kOff;
  gang.min_count.reset();
}

// The domain of every key is to be shared, which the finest of them sees to.
void ReadConstraints(JsonValue spec, const SourceContext& context, GroupTopologyRequest& request) {
  const auto constraints = ObjectMember(spec, "schedulingConstraints", context.read);
  if (!constraints) return;
  WarnOfUnknownFields(*constraints, {"topology"}, context.read);
  const auto keys = ReadList(*constraints, "topology", context.read, [&](JsonValue one) {
    WarnOfUnknownFields(one, {"key"}, context.read);
    return RequiredText(one, "key", context.read);
  });
  if (keys.empty()) return;
  request.levels.emplace().required = keys[0];
  request.also_required.assign(keys.begin() + 1, keys.end());
}

}  // namespace

std::string ReadNewName(JsonValue entry, std::set<std::string>& names,
                        const SourceContext& context) {
  std::string name = RequiredText(entry, "name", context.read);
  if (!name.empty() && !names.insert(name).second) {
    context.read.Error(*Member(entry, "name"), "one before it has that name",
                       "a name of its own for each");
  }
  return name;
}

void ReadGroupPriority(JsonValue spec, const SourceContext& context, Workload& head) {
  const std::string name = TextMember(spec, "priorityClassName", context.read);
  const auto number = Int64Member(spec, "priority", context.read);
  if (!name.empty()) {
    head.priority_class = name;
    const auto known = context.defaults.PriorityOf(name);
    head.priority = known.value_or(head.priority);
    if (!known && !number) {
      context.read.Warn(*Member(spec, "priorityClassName"),
                        "this priority class is not in the input, so that it counts for nothing",
                        "the priority class among the files");
    }
  }
  if (number) head.priority = *number;
}

void LetStartOneByOne(GangGroup& gang) {
  if (gang.min_count != 0) return;
  gang.mode = GangMode::kOff;
  gang.min_count.reset();
  for (RankedGroup& ranked : gang.ranked_groups) {
    for (EqGroup& group : ranked.eq_groups) group.min_count = group.max_count;
  }
}

GangWorkload OneGang(const GangWorkload& of_all, GangGroup gang, const PartMembers& members,
                     std::string name) {
  GangWorkload workload = of_all;
  workload.head.key.name = std::move(name);
  workload.head.uid.clear();
  RankedGroup& ranked = gang.ranked_groups.emplace_back();
  ranked.name = "rg";
  TakePods(members, ranked);
  if (members.pods.empty() && gang.mode == GangMode::kOff) {  // of no pods, for now
    ranked.eq_groups.push_back({.name = "main", .min_count = 0, .max_count = 0});
  }
  workload.gang_groups.push_back(std::move(gang));
  LetStartOneByOne(workload.gang_groups.back());
  if (!members.owner_title.empty()) {
    workload.notes.push_back(fmt::format("its pods belong to {}", members.owner_title));
  }
  WaitForPods(members.Seen(), workload.gang_groups.back(), workload);
  workload.running = members.Seen() > 0 && members.Seen() == members.Bound();
  return workload;
}

bool ReadPolicy(JsonValue parent, std::string_view name, const SourceContext& context,
                GangGroup& gang) {
  gang.min_count = 1;
  const auto policy = RequiredObject(parent, name, "gang with a minCount, or basic", context);
  if (!policy) return true;
  WarnOfUnknownFields(*policy, {"gang", "basic"}, context.read);
  const auto of_gang = ObjectMember(*policy, "gang", context.read);
  const auto basic = Member(*policy, "basic");
  if (of_gang && basic) {
    context.read.Error(*policy, "it is gang and basic at once", "one of them");
  } else if (!of_gang && !basic) {
    context.read.Error(*policy, "it is neither gang nor basic", "one of them");
  }
  if (!of_gang) return true;
  gang.min_count = Int32Member(*of_gang, "minCount", context.read, 1);
  if (!Member(*of_gang, "minCount")) {
    context.read.Missing(*of_gang, "minCount", "how many pods have to fit");
  }
  return false;
}

void ReadPodGroupWorkload(JsonValue object, const SourceContext& context, Members& members,
                          std::vector<GangWorkload>& workloads) {
  GangWorkload of_all = BeginWorkload(object, context);
  of_all.head.owners = OwnersOf(object, context.read);
  of_all.true_workload.reset();
  const auto spec = ObjectMember(object, "spec", context.read);
  if (!spec) return;
  WarnOfUnknownFields(*spec,
                      {"controllerRef", "podGroups", "podGroupTemplates",
                       "compositePodGroupTemplates", "priorityClassName"},
                      context.read);
  if (const auto reference = ObjectMember(*spec, "controllerRef", context.read)) {
    WarnOfUnknownFields(*reference, {"name", "kind", "apiGroup", "uid", "namespace"}, context.read);
    of_all.true_workload = TrueWorkload{TextMember(*reference, "apiGroup", context.read),
                                        TextMember(*reference, "kind", context.read),
                                        TextMember(*reference, "name", context.read)};
  }
  ReadGroupPriority(*spec, context, of_all.head);
  const std::string workload_name = of_all.head.key.name;
  const std::string& name_space = of_all.head.key.namespace_;
  std::set<std::string> names;
  ReadList(*spec, "podGroups", context.read, [&](JsonValue object_of_group) {
    GangGroup gang;
    gang.name = ReadNewName(object_of_group, names, context);
    WarnOfUnknownFields(object_of_group, {"name", "policy", "schedulingConstraints"}, context.read);
    const bool basic = ReadPolicy(object_of_group, "policy", context, gang);
    ReadConstraints(object_of_group, context, gang.topology_request);
    // One gang for each replica key that its pods name (W3.3); of policy basic one for all (W4.2).
    std::vector<PartReference> found;
    const PartReference of_gang{Kind::kWorkloadPodGroup, workload_name, gang.name};
    for (auto it = members.lower_bound({name_space, of_gang}); it != members.end(); ++it) {
      const auto& [of_space, reference] = it->first;
      if (of_space != name_space || reference.kind != of_gang.kind ||
          reference.name != of_gang.name || reference.part != of_gang.part) {
        break;
      }
      found.push_back(reference);
    }
    std::vector<std::pair<PartReference, PartMembers>> gangs;
    for (const PartReference& reference : found) {
      PartMembers taken = TakeMembers(members, name_space, reference);
      if (basic && !gangs.empty()) {
        gangs.front().second.Add(std::move(taken));
      } else {
        gangs.emplace_back(basic ? of_gang : reference, std::move(taken));
      }
    }
    if (gangs.empty()) gangs.emplace_back(of_gang, PartMembers());
    for (const auto& [reference, taken] : gangs) {
      GangWorkload of_group = of_all;
      ApplyKaiMetadata(object, &taken, context, of_group);
      GangGroup own = gang;
      AskForNone(basic, taken, own);
      std::string name = fmt::format("{}-{}", workload_name, gang.name);
      if (!reference.replica_key.empty()) name += "-" + reference.replica_key;
      own.pod_group = name;
      workloads.push_back(OneGang(of_group, std::move(own), taken, std::move(name)));
      if (taken.pods.empty() && !basic) WaitForFirstPods(workloads.back());
    }
    return 0;
  });
  for (const std::string_view templates : {"podGroupTemplates", "compositePodGroupTemplates"}) {
    if (!Member(*spec, templates)) continue;
    of_all.notes.push_back(
        fmt::format("its PodGroups are gangs of their own: {} are what "
                    "controllers make them from",
                    templates));
    workloads.push_back(of_all);
  }
}

void ReadPodGroup(JsonValue object, const SourceContext& context, Members& members,
                  std::vector<GangWorkload>& workloads) {
  GangWorkload of_all = BeginWorkload(object, context);
  of_all.true_workload.reset();
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  WarnOfUnknownFields(
      *spec,
      {"podGroupTemplateRef", "workloadRef", "schedulingPolicy", "schedulingConstraints",
       "resourceClaims", "disruptionMode", "priorityClassName", "priority", "preemptionPolicy",
       "parentCompositePodGroupName"},
      context.read);
  GangGroup gang;
  gang.name = "gg";
  const bool basic = ReadPolicy(*spec, "schedulingPolicy", context, gang);
  ReadConstraints(*spec, context, gang.topology_request);
  ReadGroupPriority(*spec, context, of_all.head);
  const PartMembers taken =
      TakeMembers(members, of_all.head.key.namespace_, {Kind::kPodGroup, of_all.head.key.name});
  ApplyKaiMetadata(object, &taken, context, of_all);
  const std::string name = of_all.head.key.name;
  gang.pod_group = name;
  AskForNone(basic, taken, gang);
  ReadGroupClaims(*spec, context.read, context.defaults, gang, of_all.notes);
  workloads.push_back(OneGang(of_all, std::move(gang), taken, name));
  if (taken.pods.empty() && !basic) WaitForFirstPods(workloads.back());
}

void AddChildGroup(const FoundObject& object, const SourceContext& context, ChildGroups& groups) {
  const ObjectKey key = ReadObjectKey(object.value, context.read);
  const auto metadata = Member(object.value, "metadata");
  ChildGroup child{object, key.name};
  if (metadata && metadata->is_object()) {
    child.created = TimeMember(*metadata, "creationTimestamp", context.read).value_or(0);
  }
  const std::string parent =
      TextMember(*Member(object.value, "spec"), "parentCompositePodGroupName", context.read);
  groups[{key.namespace_, parent}].push_back(std::move(child));
}

void SortByCreation(std::vector<ChildGroup>& children) {
  std::ranges::stable_sort(children, [](const ChildGroup& a, const ChildGroup& b) {
    return std::tie(a.created, a.name) < std::tie(b.created, b.name);
  });
}

void ReadCompositePodGroup(JsonValue object, const ChildGroups& groups,
                           const SourceContext& context, Members& members,
                           std::set<std::string>& below, std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  workload.true_workload.reset();
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  const std::string& name_space = workload.head.key.namespace_;
  ReadGroupPriority(*spec, context, workload.head);
  GangGroup gang;
  gang.name = "gg";
  gang.pod_group = workload.head.key.name;
  // Depth first; a group that is its own ancestor comes once.
  const auto add = [&](auto& self, JsonValue parent, const SourceContext& of_parent,
                       NamedGroup& around, std::size_t depth) -> void {
    constexpr std::size_t kMostDepth = 8;
    const JsonValue parent_spec = *Member(parent, "spec");
    ReadConstraints(parent_spec, of_parent, around.topology_request);
    if (const auto policy = ObjectMember(parent_spec, "schedulingPolicy", of_parent.read)) {
      if (const auto of_gang = ObjectMember(*policy, "gang", of_parent.read)) {
        around.min_groups = Int32Member(*of_gang, "minGroupCount", of_parent.read, 1);
      }
    }
    const auto found = groups.find({name_space, around.name});
    if (found == groups.end()) return;
    if (depth > kMostDepth) {
      workload.waits_for =
          fmt::format("the groups below {} are deeper than {}", Excerpt(around.name), kMostDepth);
      return;
    }
    for (const auto& [child, name, created] : found->second) {
      const auto child_spec = Member(child.value, "spec");
      const ReadContext of_child = ContextOf(child, context);
      const SourceContext child_context{of_child,        context.defaults, context.find,
                                        child.kind,      context.version,  context.group,
                                        context.as_kueue};
      if (!below.insert(fmt::format("{} {}/{}", child.kind, name_space, name)).second) continue;
      NamedGroup& group = around.groups.emplace_back();
      group.name = name;
      if (child.kind == "CompositePodGroup") {
        self(self, child.value, child_context, group, depth + 1);
        continue;
      }
      GangGroup leaf;
      ReadPolicy(*child_spec, "schedulingPolicy", child_context, leaf);
      ReadConstraints(*child_spec, child_context, group.topology_request);
      const PartMembers taken = TakeMembers(members, name_space, {Kind::kPodGroup, name});
      if (workload.head.queue_name.empty()) TakeQueue({child.value}, workload.head);
      TakeQueueOfPods(taken, workload.head);
      TakePods(taken, group.pods.emplace());
      group.min_pods = leaf.min_count.value_or(1);
      group.seen = taken.Seen();
      group.bound = taken.Bound();
    }
  };
  NamedGroup root;
  root.name = workload.head.key.name;
  add(add, object, context, root, 1);
  workload.topology_request = root.topology_request;
  const std::string too_deep = workload.waits_for;
  const GroupFacts facts = AddGroups(std::move(root), "group", gang, workload);
  if (!too_deep.empty()) workload.waits_for = too_deep;
  gang.min_count = facts.needed;
  if (facts.bound > 0) {
    workload.notes.push_back(fmt::format("{} of its {} pods run already", facts.bound, facts.seen));
  }
  workload.running = facts.seen > 0 && facts.seen == facts.bound;
  if (!gang.ranked_groups.empty()) workload.gang_groups.push_back(std::move(gang));
  workloads.push_back(std::move(workload));
}

void ReadGroupWithoutRoot(JsonValue object, bool has_parent, const SourceContext& context,
                          Members& members, std::vector<GangWorkload>& workloads) {
  GangWorkload& workload = workloads.emplace_back(BeginWorkload(object, context));
  workload.true_workload.reset();
  const std::string parent =
      TextMember(*Member(object, "spec"), "parentCompositePodGroupName", context.read);
  workload.waits_for =
      has_parent ? fmt::format("the groups above it, from {} on, are too many or lead back to it",
                               Excerpt(parent))
                 : fmt::format("CompositePodGroup {} is not in the input; it waits for it",
                               Excerpt(parent));
  const PartMembers taken =
      TakeMembers(members, workload.head.key.namespace_, {Kind::kPodGroup, workload.head.key.name});
  if (taken.Seen() > 0) {
    workload.notes.push_back(fmt::format("named by {}", CountedPods(taken.Seen())));
  }
}

}  // namespace espalier
