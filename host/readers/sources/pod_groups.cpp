#include "host/readers/sources/pod_groups.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/group_tree.hpp"
#include "host/readers/sources/part_reference.hpp"
#include "host/readers/sources/running_pods.hpp"
#include "host/readers/sources/topology_claims.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

// A label, or else an annotation.
std::string_view Marked(JsonValue object, std::string_view key) {
  const std::string_view label = LabelOf(object, key);
  return label.empty() ? AnnotationOf(object, key) : label;
}

// The first of the objects that is marked so says it.
std::string_view FirstMarked(const std::vector<JsonValue>& objects, std::string_view key) {
  for (const JsonValue object : objects) {
    if (const auto text = Marked(object, key); !text.empty()) return text;
  }
  return "";
}

// Returns the name of an entry of a list in which each has a name of its own.
std::string NewName(JsonValue entry, std::set<std::string>& names, const SourceContext& context) {
  std::string name = RequiredText(entry, "name", context.read);
  if (!name.empty() && !names.insert(name).second) {
    context.read.Error(*Member(entry, "name"), "one before it has that name",
                       "a name of its own for each");
  }
  return name;
}

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

PartMembers TakeMembers(Members& members, const std::string& name_space,
                        const PartReference& reference) {
  const auto it = members.find({name_space, reference});
  if (it == members.end()) return {};
  PartMembers taken = std::move(it->second);
  members.erase(it);
  return taken;
}

void ReadGroupPriority(JsonValue spec, const SourceContext& context, Workload& head) {
  const std::string name = TextMember(spec, "priorityClassName", context.read);
  if (name.empty()) return;
  head.priority_class = name;
  const auto it = context.defaults.priority_classes.find(name);
  if (it != context.defaults.priority_classes.end()) head.priority = it->second;
  if (const auto priority = Int64Member(spec, "priority", context.read)) head.priority = *priority;
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

std::int32_t PartMembers::Seen() const {
  std::int32_t seen = 0;
  for (const MemberPods& one : pods) seen += one.group.max_count.value_or(0);
  return seen;
}

std::int32_t PartMembers::Bound() const {
  std::int64_t count = 0;
  for (const MemberPods& one : pods) count += RunningPodsOf(one.group);
  return static_cast<std::int32_t>(count);
}

std::string CountedPods(std::int32_t count) {
  return fmt::format("{} pod{}", count, count == 1 ? "" : "s");
}

void TakePods(const PartMembers& members, RankedGroup& ranked) {
  for (const MemberPods& one : members.pods) {
    ranked.eq_groups.emplace_back(one.group).min_count.reset();
  }
  if (ranked.eq_groups.size() == 1) ranked.eq_groups[0].name = "main";
  for (std::size_t i = 0; ranked.eq_groups.size() > 1 && i < ranked.eq_groups.size(); ++i) {
    std::string& name = ranked.eq_groups[i].name;
    if (name.empty()) name = fmt::format("main-{}", i);
  }
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

// Runs of so many pods in one domain each (W4.6).
static void ApplyKaiSegments(const std::vector<JsonValue>& chain, GangWorkload& workload) {
  const std::string_view size = FirstMarked(chain, "kai.scheduler/segment-size");
  const std::string_view level =
      FirstMarked(chain, "kai.scheduler/segment-topology-required-placement");
  if (!FirstMarked(chain, "kai.scheduler/segment-topology-preferred-placement").empty()) {
    workload.notes.push_back(
        "annotation kai.scheduler/segment-topology-preferred-placement is not honoured");
  }
  if (size.empty()) {
    if (level.empty()) return;
    workload.notes.push_back(
        "annotation kai.scheduler/segment-topology-required-placement is not honoured without "
        "kai.scheduler/segment-size");
    return;
  }
  const auto pods = ParseInteger<std::int32_t>(size);
  if (!pods || *pods < 1) {
    workload.notes.push_back(
        fmt::format("annotation kai.scheduler/segment-size is {}: it is not honoured, as that is "
                    "no number of pods",
                    Excerpt(size)));
  } else if (level.empty()) {
    workload.notes.push_back(
        "annotation kai.scheduler/segment-size is not honoured without "
        "kai.scheduler/segment-topology-required-placement");
  } else {
    workload.topology_request.segments = SliceConstraint{std::string(level), *pods};
  }
}

// Levels that the first of the objects with any asks for, unless the request asks for some.
static void ApplyKaiLevels(const std::vector<JsonValue>& chain, GroupTopologyRequest& request) {
  const auto required = FirstMarked(chain, "kai.scheduler/topology-required-placement");
  const auto preferred = FirstMarked(chain, "kai.scheduler/topology-preferred-placement");
  if (AsksForLevels(request) || !request.claims.empty()) return;
  if (required.empty() && preferred.empty()) return;
  if (!request.levels) request.levels.emplace();
  if (!required.empty()) request.levels->required = required;
  if (!preferred.empty()) request.levels->preferred = preferred;
}

// Takes the queue of the first of the objects that names one.
static void TakeQueue(const std::vector<JsonValue>& chain, Workload& head) {
  for (const std::string_view key : {kQueueNameLabel, std::string_view("kai.scheduler/queue")}) {
    if (const auto queue = FirstMarked(chain, key); !queue.empty()) {
      head.queue_name = queue;
      return;
    }
  }
}

// Takes the queue from members of a group inside another one, where the outer one has none.
static void TakeQueueOfPods(const PartMembers& members, Workload& head) {
  if (!head.queue_name.empty()) return;
  std::vector<JsonValue> chain;
  if (members.owner) chain.push_back(*members.owner);
  if (members.pod != nullptr) chain.push_back(members.pod->value);
  TakeQueue(chain, head);
}

void ApplyKaiMetadata(JsonValue described_by, const PartMembers* members,
                      const SourceContext& context, GangWorkload& workload) {
  std::vector<JsonValue> chain = {described_by};
  if (members != nullptr && members->owner) chain.push_back(*members->owner);
  const std::size_t without_pod = chain.size();
  if (members != nullptr && members->pod != nullptr) chain.push_back(members->pod->value);
  TakeQueue(chain, workload.head);
  if (const auto name = FirstMarked(chain, "priorityClassName"); !name.empty()) {
    workload.head.priority_class = name;
  } else if (members != nullptr && members->pod != nullptr &&
             workload.head.priority_class.empty()) {
    const auto spec = Member(members->pod->value, "spec");
    if (spec) workload.head.priority_class = TextMember(*spec, "priorityClassName", context.read);
  }
  const auto value = context.defaults.priority_classes.find(workload.head.priority_class);
  if (value != context.defaults.priority_classes.end()) workload.head.priority = value->second;
  if (const auto text = FirstMarked(chain, "kai.scheduler/preemptibility"); !text.empty()) {
    workload.preemptibility = text;
  }
  ApplyKaiSegments(chain, workload);
  chain.resize(without_pod, described_by);
  workload.head.topology_name = FirstMarked(chain, "kai.scheduler/topology");
  ApplyKaiLevels(chain, workload.topology_request);
}

void ApplyKaiTopology(JsonValue object, GangWorkload& workload) {
  const std::vector<JsonValue> chain = {object};
  ApplyKaiSegments(chain, workload);
  if (const auto name = FirstMarked(chain, "kai.scheduler/topology"); !name.empty()) {
    workload.head.topology_name = name;
  }
  if (workload.replica_mode == ReplicaMode::kReplicatedGangs) {  // each replica is a group
    for (GangGroup& gang : workload.gang_groups) ApplyKaiLevels(chain, gang.topology_request);
    return;
  }
  if (workload.replica_mode != ReplicaMode::kReplicatedPods || workload.whole) {
    return ApplyKaiLevels(chain, workload.topology_request);
  }
  for (GangGroup& gang : workload.gang_groups) {  // each pod is a group of its own
    for (RankedGroup& ranked : gang.ranked_groups) {
      for (EqGroup& group : ranked.eq_groups) ApplyKaiLevels(chain, group.topology_request);
    }
  }
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
    gang.name = NewName(object_of_group, names, context);
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
      if (taken.pods.empty() && !basic) {
        workloads.back().waits_for = "none of its pods is there: it waits for them";
      }
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
  if (taken.pods.empty() && !basic) {
    workloads.back().waits_for = "none of its pods is there: it waits for them";
  }
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

// Moves each subgroup into the one that it names as its parent. Returns why that cannot be; "" when
// it can.
static std::string NestSubGroups(std::vector<std::pair<NamedGroup, std::string>> sub_groups,
                                 NamedGroup& root) {
  const auto find = [&](const std::string& name) {
    return std::ranges::find(sub_groups, name, [](const auto& one) { return one.first.name; });
  };
  for (const auto& [group, parent] : sub_groups) {
    if (!parent.empty() && find(parent) == sub_groups.end()) {
      return fmt::format("subgroup {} names the parent {}, which is none of its subgroups",
                         Excerpt(group.name), Excerpt(parent));
    }
    const std::string* above = &parent;
    for (std::size_t i = 0; !above->empty(); ++i) {
      if (i == sub_groups.size()) {
        return fmt::format("the parents of subgroup {} lead back to it", Excerpt(group.name));
      }
      above = &find(*above)->second;
    }
  }
  const auto add = [&](auto& self, const std::string& name, NamedGroup& around) -> void {
    for (auto& [group, parent] : sub_groups) {
      if (parent != name) continue;
      NamedGroup& inner = around.groups.emplace_back(group);
      self(self, inner.name, inner);
    }
  };
  add(add, "", root);
  return "";
}

// Puts all groups of a gang, and how many of them it needs, into one middle group.
static void HoldTogether(std::string name, GangGroup& gang) {
  for (MiddleGroup& group : gang.middle_groups) ++group.within;
  for (RankedGroup& ranked : gang.ranked_groups) ++ranked.within;
  gang.middle_groups.insert(gang.middle_groups.begin(),
                            {.name = std::move(name), .min_groups = gang.min_groups});
  gang.min_groups.reset();
}

void ReadKaiPodGroup(JsonValue object, const SourceContext& context, Members& members,
                     std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  workload.true_workload.reset();
  const std::string name = workload.head.key.name;
  const std::string name_space = workload.head.key.namespace_;
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  WarnOfUnknownFields(*spec,
                      {"minMember", "minSubGroup", "queue", "priorityClassName", "preemptibility",
                       "subGroups", "topologyConstraint", "markUnschedulable", "schedulingBackoff"},
                      context.read);
  std::string topology;  // that its constraints name
  const auto constraint = [&](JsonValue parent, GroupTopologyRequest& request) {
    const auto of = ObjectMember(parent, "topologyConstraint", context.read);
    if (!of) return;
    WarnOfUnknownFields(*of, {"topology", "requiredTopologyLevel", "preferredTopologyLevel"},
                        context.read);
    const std::string named = TextMember(*of, "topology", context.read);
    if (!topology.empty() && !named.empty() && named != topology) {
      workload.waits_for = fmt::format(
          "its topologyConstraints name the topologies {} and {}; its pods go to one of them",
          Excerpt(topology), Excerpt(named));
    }
    if (topology.empty()) topology = named;
    const std::string required = TextMember(*of, "requiredTopologyLevel", context.read);
    const std::string preferred = TextMember(*of, "preferredTopologyLevel", context.read);
    if (required.empty() && preferred.empty()) return;
    request.levels.emplace();
    if (!required.empty()) request.levels->required = required;
    if (!preferred.empty()) request.levels->preferred = preferred;
  };
  constraint(*spec, workload.topology_request);
  GangGroup gang;
  gang.name = "gg";
  gang.pod_group = name;
  gang.min_count = Int32Member(*spec, "minMember", context.read);
  NamedGroup root;
  root.min_groups = Int32Member(*spec, "minSubGroup", context.read, 1);
  std::set<std::string> parents;
  ReadList(*spec, "subGroups", context.read, [&](JsonValue sub_group) {
    parents.insert(TextMember(sub_group, "parent", context.read));
    return 0;
  });
  const auto take = [&](const std::string& part, NamedGroup& group) {
    const PartMembers taken = TakeMembers(members, name_space, {Kind::kKaiPodGroup, name, part});
    TakePods(taken, group.pods.emplace());
    group.seen = taken.Seen();
    group.bound = taken.Bound();
    if (part.empty()) {
      ApplyKaiMetadata(object, &taken, context, workload);
    } else {
      TakeQueueOfPods(taken, workload.head);
    }
  };
  std::vector<std::pair<NamedGroup, std::string>> sub_groups;
  std::set<std::string> names;
  ReadList(*spec, "subGroups", context.read, [&](JsonValue sub_group) {
    WarnOfUnknownFields(sub_group,
                        {"name", "parent", "minMember", "minSubGroup", "topologyConstraint"},
                        context.read);
    NamedGroup group;
    group.name = NewName(sub_group, names, context);
    constraint(sub_group, group.topology_request);
    group.min_groups = Int32Member(sub_group, "minSubGroup", context.read, 1);
    const auto least = Int32Member(sub_group, "minMember", context.read);
    if (!parents.contains(group.name)) {  // of one with others inside they say how many it needs
      take(group.name, group);
      group.min_pods = least.value_or(0);
    }
    sub_groups.emplace_back(std::move(group), TextMember(sub_group, "parent", context.read));
    return 0;
  });
  const std::string not_nested = NestSubGroups(std::move(sub_groups), root);
  const GroupFacts facts = AddGroups(std::move(root), "subgroup", gang, workload);
  if (!not_nested.empty()) workload.waits_for = not_nested;
  NamedGroup rest;
  take("", rest);
  const std::int32_t seen = facts.seen + rest.seen;
  const std::int32_t bound = facts.bound + rest.bound;
  if (!rest.pods->eq_groups.empty()) {
    if (gang.min_groups) HoldTogether("subgroups", gang);  // the others are none of them
    rest.pods->name = "rg";
    gang.ranked_groups.push_back(*std::move(rest.pods));
  }
  if (!gang.min_count || *gang.min_count < facts.needed) {
    gang.min_count = std::max(facts.needed, 1);
  }
  if (!topology.empty()) workload.head.topology_name = topology;
  if (const std::string queue = TextMember(*spec, "queue", context.read); !queue.empty()) {
    workload.head.queue_name = queue;
  }
  if (const std::string text = TextMember(*spec, "preemptibility", context.read); !text.empty()) {
    workload.preemptibility = text;
  }
  ReadGroupPriority(*spec, context, workload.head);
  WaitForPods(seen, workload.gang_groups.emplace_back(std::move(gang)), workload);
  workload.running = seen > 0 && seen == bound;
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
