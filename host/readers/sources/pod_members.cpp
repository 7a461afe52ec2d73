#include "host/readers/sources/pod_members.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "host/gangs/gang_counts.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/parse_integer.hpp"
#include "host/model/pod_phase.hpp"
#include "host/readers/job_metadata.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/sources/kai_metadata.hpp"
#include "host/readers/sources/left_out.hpp"
#include "host/readers/sources/part_reference.hpp"
#include "host/readers/sources/role_hash.hpp"
#include "host/readers/sources/running_pods.hpp"
#include "host/readers/sources/topology_claims.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

constexpr std::string_view kRoleHash = "kueue.x-k8s.io/role-hash";
constexpr std::string_view kFastAdmission = "kueue.x-k8s.io/pod-group-fast-admission";
constexpr std::string_view kAdmissionGate = "kueue.x-k8s.io/admission";

// Returns whether a pod counts where it is told how many pods of its group are there or run. Pods
// that failed, were evicted, are being deleted, or whose node does not answer do not: those that
// replace them count at once (W8.5). Kueue counts pods that go as long as they have a node.
bool IsOfItsGang(const Pod& pod, bool is_deleted, Kind kind) {
  if (HasEnded(pod)) return false;
  if (kind == Kind::kKueuePodGroup) return !is_deleted || !pod.node_name.empty();
  return !is_deleted && (kind == Kind::kNone || pod.phase != "Unknown");
}

bool HasContainers(JsonValue pod) {
  simdjson::dom::array containers;
  return pod["spec"]["containers"].get(containers) == simdjson::SUCCESS && containers.size() > 0;
}

// `going` as in ApplyPodClaims.
EqGroup ShapeOf(JsonValue pod, std::string_view index_label, const ReadContext& context,
                const ClusterDefaults& defaults, std::string_view name_space,
                std::span<const std::string_view> going) {
  EqGroup shape;
  shape.name = AnnotationOf(pod, kRoleHash);
  shape.max_count = 1;
  shape.pod_template = ReadPodTemplate(pod, context, defaults, name_space, PodOrigin::kPod);
  shape.topology_request.levels = ReadTopologyAnnotations(pod, index_label, context);
  ApplyPodClaims(pod, name_space, context, defaults, shape, going);
  AddWhatKeepsApart(pod, shape);
  RefuseShares(pod, shape);
  return shape;
}

// Returns when the pod got its node, in Unix seconds; 0 where it does not say it.
std::int64_t ScheduledAt(JsonValue pod, const ReadContext& context) {
  std::int64_t at = 0;
  const auto status = ObjectMember(pod, "status", context);
  if (!status) return at;
  ReadList(*status, "conditions", context, [&](JsonValue condition) {
    if (TextOf(condition, "type") == "PodScheduled" && TextOf(condition, "status") == "True") {
      at = TimeMember(condition, "lastTransitionTime", context).value_or(0);
    }
    return 0;
  });
  return at;
}

// The properties that make pods equal.
enum class Equality {
  kShape,           // what bears on their placement
  kShapeAndLabels,  // and labels
  kName,            // the name of their equivalence group alone, which is their role in Kueue
};

// Gathers equal pods.
class EqualPods {
 public:
  explicit EqualPods(Equality equality) : equality_(equality) {}

  void Add(EqGroup shape, JsonValue object, const Pod& pod, const ReadContext& context) {
    MemberPods& pods = Find(std::move(shape), object);
    pods.group.max_count = *pods.group.max_count + 1;
    if (pod.node_name.empty()) return;
    RunningPods& running = pods.group.running.emplace_back();
    running.node = pod.node_name;
    running.pods = 1;
    running.names.push_back(pod.key.name);
    if (pod.phase != "Pending") return;
    running.pending.push_back(pod.key.name);
    running.pending_since = ScheduledAt(object, context);
  }

  std::vector<MemberPods> Take() {
    for (MemberPods& pods : pods_) MergeRunning(pods.group);
    return std::move(pods_);
  }

 private:
  // Returns the pods that the shape is that of, which may be none so far.
  MemberPods& Find(EqGroup shape, JsonValue pod) {
    std::vector<std::size_t>& alike =
        by_requests_[equality_ == Equality::kName ? shape.name : RequestsKey(shape)];
    for (const std::size_t i : alike) {
      if (IsShapeOf(pods_[i], shape)) return pods_[i];
    }
    alike.push_back(pods_.size());
    shape.max_count = 0;
    return pods_.emplace_back(MemberPods{.group = std::move(shape), .pod = pod});
  }

  // Returns a text that shapes of pods have in common only with few others.
  static std::string RequestsKey(const EqGroup& shape) {
    std::string key = shape.name;
    for (const auto& [resource, amount] : shape.pod_template->requests) {
      key += fmt::format("\n{} {}", resource, amount);
    }
    return key;
  }

  bool IsShapeOf(const MemberPods& pods, const EqGroup& shape) const {
    if (pods.group.name != shape.name) return false;
    if (equality_ == Equality::kName) return true;
    return pods.group.claim_problem == shape.claim_problem && pods.group.apart == shape.apart &&
           pods.group.kept_apart == shape.kept_apart &&
           AreAlike(*pods.group.pod_template, *shape.pod_template) &&
           (equality_ != Equality::kShapeAndLabels ||
            pods.group.pod_template->labels == shape.pod_template->labels);
  }

  const Equality equality_;
  std::vector<MemberPods> pods_;
  std::unordered_map<std::string, std::vector<std::size_t>> by_requests_;
};

std::string TitleOf(JsonValue object) { return ObjectTitle(object, ""); }

// Reads the head of a workload of pods. A pod that is described but was not made yet gets the
// labels that Kueue gives to it then, whatever it says of its age.
Workload ReadHeadOfPod(JsonValue pod, const ReadContext& context, const ClusterDefaults& defaults) {
  Workload head = ReadWorkloadHead(pod, context);
  const bool was_made = !LabelOf(pod, kManagedLabel).empty() || pod["status"]["phase"].is_string();
  if (!was_made) AddDefaultLabels(defaults, head);
  return head;
}

// A pod that nothing groups.
GangWorkload PodAlone(JsonValue pod, const ReadContext& context, const ClusterDefaults& defaults,
                      bool as_kueue) {
  GangWorkload workload;
  workload.head = ReadHeadOfPod(pod, context, defaults);
  workload.head.owners.push_back({.api_version = "v1",
                                  .kind = "Pod",
                                  .name = workload.head.key.name,
                                  .uid = workload.head.uid,
                                  .controller = true});
  workload.source = "v1 Pod";
  workload.true_workload = TrueWorkload{"", "Pod", workload.head.key.name};
  workload.whole = true;
  ReadJobPriority(pod, {pod}, context, defaults, workload.head);
  GangGroup& gang = workload.gang_groups.emplace_back();
  EqGroup group = ShapeOf(pod, as_kueue ? kGroupPodIndexLabel : "", context, defaults,
                          workload.head.key.namespace_, {});
  group.name = "main";
  group.min_count = 1;
  AddRankedGroup(gang, std::move(group), "").name = "rg";
  ApplyKaiTopology(pod, workload);
  ReadTemplateErrors({pod}, context, defaults, workload.head, PodOrigin::kPod);
  return workload;
}

// Returns how many pods the group of the pod is to have; nullopt where the pod does not say it.
std::optional<std::int32_t> TotalCount(JsonValue pod) {
  const auto total = ParseInteger<std::int32_t>(AnnotationOf(pod, kPodGroupTotalCount));
  return total && *total >= 1 ? total : std::nullopt;
}

// A pod of a gang.
struct GangPod {
  const IndexedObject* object;
  const Pod* pod;
  std::int64_t created;
  std::optional<JsonValue> owner;
};

using GangPods = std::map<std::pair<std::string, PartReference>, std::vector<GangPod>>;

bool IsOlder(const GangPod& a, const GangPod& b) {
  return std::tie(a.created, a.pod->key.name) < std::tie(b.created, b.pod->key.name);
}

bool IsGated(const Pod& pod) {
  return std::ranges::find(pod.scheduling_gates, kAdmissionGate) != pod.scheduling_gates.end();
}

// Leaves out the pods above the group's count that Kueue deletes: gated ones before others, and
// then the youngest. Returns how many. `pods` are sorted by age, and stay so.
std::int32_t LeaveOutExcess(std::vector<GangPod>& pods) {
  const std::optional<std::int32_t> total = TotalCount(pods.front().object->value);
  if (!total || pods.size() <= static_cast<std::size_t>(*total)) return 0;
  const auto excess = static_cast<std::int32_t>(pods.size()) - *total;
  std::stable_partition(pods.begin(), pods.end(),
                        [](const GangPod& one) { return !IsGated(*one.pod); });
  pods.resize(static_cast<std::size_t>(*total));
  std::ranges::sort(pods, IsOlder);
  return excess;
}

// Why Kueue makes no Workload of a group of its own, whose pods are sorted by age; empty: it makes
// one.
std::string WhyNotComposed(const std::vector<GangPod>& pods) {
  const JsonValue first = pods.front().object->value;
  const auto differs = [&](const auto& text_of) {
    return std::ranges::any_of(
        pods, [&](const GangPod& one) { return text_of(one.object->value) != text_of(first); });
  };
  if (differs([](JsonValue pod) { return LabelOf(pod, kQueueNameLabel); })) {
    return fmt::format("its pods have different labels {}", kQueueNameLabel);
  }
  if (differs([](JsonValue pod) { return AnnotationOf(pod, kPodGroupTotalCount); })) {
    return fmt::format("its pods have different annotations {}", kPodGroupTotalCount);
  }
  const std::string_view index = LabelOf(first, kGroupPodIndexLabel);
  const auto number = ParseInteger<std::uint32_t>(index);
  const std::optional<std::int32_t> total = TotalCount(first);
  if (!index.empty() && (!number || (total && std::int64_t{*number} >= *total))) {
    return fmt::format("label {} is {}, and not below {}", kGroupPodIndexLabel, Excerpt(index),
                       kPodGroupTotalCount);
  }
  return "";
}

// Rules by which the pods are read that name a part of one kind.
struct MemberRules {
  bool grouped_by_kueue = false;
  bool as_kueue = false;
  Equality equality = Equality::kShape;
};

MemberRules RulesFor(Kind kind, bool as_kueue) {
  MemberRules rules;
  rules.grouped_by_kueue = kind == Kind::kKueuePodGroup;
  rules.as_kueue = as_kueue && rules.grouped_by_kueue;
  if (kind == Kind::kWorkload || kind == Kind::kVolcanoPodGroup) {
    rules.equality = Equality::kShapeAndLabels;
  }
  if (rules.as_kueue) rules.equality = Equality::kName;
  return rules;
}

// The members of one part, made of its pods. Those that are left out are added to `left_out`.
PartMembers MembersOf(std::vector<GangPod> pods, const MemberRules& rules, const ObjectIndex& index,
                      const ClusterDefaults& defaults, Diagnostics& diagnostics,
                      std::vector<GangWorkload>& left_out) {
  PartMembers members;
  std::ranges::sort(pods, IsOlder);
  members.pod = pods.front().object;
  if (rules.as_kueue) members.not_composed = WhyNotComposed(pods);
  if (rules.grouped_by_kueue) members.excess = LeaveOutExcess(pods);
  EqualPods equal(rules.equality);
  std::vector<std::string_view> going;  // all of them or none
  for (const GangPod& one : pods) {
    if (one.pod->node_name.empty()) break;
    going.push_back(one.pod->key.name);
  }
  if (going.size() < pods.size()) going.clear();
  for (const GangPod& one : pods) {
    Diagnostics findings(diagnostics.strict());
    const ReadContext context = index.ContextOf(ObjectKind::kPod, *one.object, findings);
    EqGroup shape = ShapeOf(one.object->value, rules.grouped_by_kueue ? kGroupPodIndexLabel : "",
                            context, defaults, one.pod->key.namespace_, going);
    const auto spec = Member(one.object->value, "spec");
    if (rules.as_kueue && shape.name.empty() && spec) shape.name = RoleHash(*spec);
    if (members.role.empty()) members.role = shape.name;
    std::string why = diagnostics.AppendObject(std::move(findings));
    if (!why.empty()) {
      left_out.push_back(LeftOutPod(*one.pod, why));
      continue;
    }
    equal.Add(std::move(shape), one.object->value, *one.pod, context);
    if (!members.owner && one.owner) {
      members.owner = one.owner;
      members.owner_title = TitleOf(*one.owner);
    }
  }
  members.pods = equal.Take();
  // Kueue sorts the pod sets of a group by their role hashes.
  std::ranges::stable_sort(
      members.pods, {}, [](const MemberPods& one) -> const std::string& { return one.group.name; });
  return members;
}

// Returns whether a Workload in the input stands for the pod, alone or in its group; `group` is the
// name of Kueue's pod group, empty for none.
bool HasWorkload(const Pod& pod, JsonValue object, std::string_view group,
                 const OwnerIndex& owners) {
  const std::string& name_space = pod.key.namespace_;
  if (owners.HasWorkload("Pod", name_space, pod.key.name, pod.uid) ||
      owners.IsSliceName(name_space, AnnotationOf(object, kSliceNameAnnotation))) {
    return true;
  }
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{AnnotationOf(object, kWorkloadAnnotation),
                                              LabelOf(object, kPrebuiltWorkload), group},
      [&](std::string_view name) { return !name.empty() && owners.IsWorkload(name_space, name); });
}

bool IsBeingDeleted(JsonValue pod) { return pod["metadata"]["deletionTimestamp"].is_string(); }

bool IsStatefulSet(JsonValue object) { return TextOf(object, "kind") == "StatefulSet"; }

std::int64_t CreationOf(JsonValue pod, const ObjectIndex& index, const IndexedObject& object) {
  Diagnostics ignored;  // what is wrong with it is reported where it is read
  const auto metadata = Member(pod, "metadata");
  if (!metadata || !metadata->is_object()) return 0;
  return TimeMember(*metadata, "creationTimestamp",
                    index.ContextOf(ObjectKind::kPod, object, ignored))
      .value_or(0);
}

}  // namespace

bool AreAlike(const PodTemplate& a, const PodTemplate& b) {
  return a.node_selector == b.node_selector && a.tolerations == b.tolerations &&
         a.affinity == b.affinity && a.requests == b.requests &&
         a.ignored_constraints == b.ignored_constraints && a.device_backed == b.device_backed &&
         std::ranges::equal(a.resource_claims, b.resource_claims, {},
                            &PodResourceClaim::claim_template, &PodResourceClaim::claim_template);
}

PodMembers ReadPodMembers(const ObjectIndex& index, const Cluster& cluster,
                          const ClusterDefaults& defaults, OwnerIndex& owners, bool as_kueue,
                          Diagnostics& diagnostics) {
  PodMembers result;
  GangPods of_gangs;
  std::vector<std::pair<const IndexedObject*, const Pod*>> owned;
  const auto add_alone = [&](const IndexedObject& object, const Pod& pod) {
    Diagnostics findings(diagnostics.strict());
    GangWorkload alone = PodAlone(object.value, index.ContextOf(ObjectKind::kPod, object, findings),
                                  defaults, as_kueue);
    std::string why = diagnostics.AppendObject(std::move(findings));
    result.alone.push_back(why.empty() ? std::move(alone) : LeftOutPod(pod, why));
  };
  const std::vector<IndexedObject>& objects = index.Of(ObjectKind::kPod);
  for (std::size_t i = 0; i < objects.size() && i < cluster.pods.size(); ++i) {
    const Pod& pod = cluster.pods[i];
    if (HasEnded(pod)) continue;
    const JsonValue object = objects[i].value;
    Diagnostics findings(diagnostics.strict());
    const ReadContext context = index.ContextOf(ObjectKind::kPod, objects[i], findings);
    PartReference reference = ReadPartReference(object, context);
    if (std::string why =
            diagnostics.AppendObject(std::exchange(findings, Diagnostics(diagnostics.strict())));
        !why.empty()) {
      result.alone.push_back(LeftOutPod(pod, why));
      continue;
    }
    const bool bound = !pod.node_name.empty();
    const bool of_kueue_group = reference.kind == Kind::kKueuePodGroup;
    const bool of_other_group =
        reference.kind == Kind::kCoschedulingPodGroup || reference.kind == Kind::kVolcanoPodGroup;
    const std::optional<JsonValue> owner = owners.TopOwner(object);
    if (bound && reference.kind == Kind::kNone && !owner) continue;
    const bool is_deleted = IsBeingDeleted(object);
    bool has_workload = false;
    if (reference.kind == Kind::kNone || of_kueue_group || of_other_group) {
      const std::string_view kueue_group = of_kueue_group ? reference.name : std::string_view();
      has_workload = HasWorkload(pod, object, kueue_group, owners);
      owners.NotePod(object, has_workload, bound && !is_deleted);
    }
    if (bound && reference.kind == Kind::kNone) continue;
    if (reference.kind == Kind::kWorkloadPodGroup &&
        (IgnoresWorkloadApi(object) || (owner && IgnoresWorkloadApi(*owner)))) {
      reference = {};  // W4.5
    }
    const bool of_kueue = has_workload || !AnnotationOf(object, kWorkloadAnnotation).empty() ||
                          !AnnotationOf(object, kSliceNameAnnotation).empty() ||
                          !LabelOf(object, kPodSetLabel).empty() ||
                          !LabelOf(object, kPrebuiltWorkload).empty();
    if (of_kueue && (reference.kind == Kind::kNone || of_kueue_group || of_other_group)) {
      if (!bound && !has_workload) ++result.skipped["Pod whose Workload is not in the input"];
      continue;
    }
    // A StatefulSet says more than its pods, which come one after the other.
    if (of_kueue_group && owner && IsStatefulSet(*owner)) continue;
    if (!IsOfItsGang(pod, is_deleted, reference.kind)) continue;
    if (reference.kind != Kind::kNone) {
      if (!of_kueue_group && reference.kind != Kind::kWorkload) owners.NoteGroupedPod(object);
      of_gangs[{pod.key.namespace_, reference}].push_back(
          {&objects[i], &pod, CreationOf(object, index, objects[i]), owner});
      continue;
    }
    if (bound || !HasContainers(object)) continue;
    if (pod.owners.empty()) {
      add_alone(objects[i], pod);
    } else if (owner) {
      owned.emplace_back(&objects[i], &pod);
    } else {
      ++result.skipped["Pod without a node whose owner is not in the input"];
    }
  }
  for (const auto& [object, pod] : owned) {
    if (!owners.SiblingsHaveWorkload(object->value)) continue;  // the owner stands for it
    if (IsGated(*pod)) {
      add_alone(*object, *pod);
    } else {
      ++result.skipped["Pod without a node whose owner's other pods have a Workload"];
    }
  }
  for (auto& [part, pods] : of_gangs) {
    PartMembers members = MembersOf(std::move(pods), RulesFor(part.second.kind, as_kueue), index,
                                    defaults, diagnostics, result.alone);
    if (members.Seen() > 0) result.members.emplace(part, std::move(members));
  }
  return result;
}

GangWorkload KueuePodGroup(const std::string& name_space, const std::string& name,
                           const PartMembers& members, const ObjectIndex& index,
                           const ClusterDefaults& defaults, bool as_kueue,
                           Diagnostics& diagnostics) {
  GangWorkload workload;
  const JsonValue pod = members.pod->value;
  Diagnostics findings(diagnostics.strict());
  const ReadContext context = index.ContextOf(ObjectKind::kPod, *members.pod, findings);
  workload.head = ReadHeadOfPod(pod, context, defaults);
  workload.head.key = {name_space, name};
  workload.head.uid.clear();
  workload.source = "v1 Pod";
  workload.whole = true;
  // A group that is admitted by its first pod has the pod set of that one alone.
  const std::optional<std::int32_t> told = TotalCount(pod);
  const bool by_first = as_kueue && told && members.Seen() < *told &&
                        pod["metadata"]["annotations"][kFastAdmission].is_string();
  std::vector<JsonValue> templates;
  for (const MemberPods& pods : members.pods) {
    if (!by_first || pods.group.name == members.role) templates.push_back(*pods.pod);
  }
  ReadJobPriority(pod, templates, context, defaults, workload.head);
  ReadTemplateErrors({templates.begin(), templates.end()}, context, defaults, workload.head,
                     PodOrigin::kPod);
  workload.waits_for = diagnostics.AppendObject(std::move(findings));
  if (workload.waits_for.empty()) workload.waits_for = members.not_composed;
  if (!workload.waits_for.empty()) return workload;
  const std::int32_t total = told.value_or(members.Seen());
  if (!told) {
    workload.notes.push_back(fmt::format(
        "its pods do not say in {} how many they are: {} are there", kPodGroupTotalCount, total));
  }
  if (members.excess > 0) {
    workload.notes.push_back(fmt::format(
        "{} above its count of {} {} left out: Kueue deletes {}", CountedPods(members.excess),
        total, members.excess == 1 ? "is" : "are", members.excess == 1 ? "it" : "them"));
  }
  GangGroup& gang = workload.gang_groups.emplace_back();
  gang.min_count = total;
  gang.max_count = total;
  RankedGroup& ranked = gang.ranked_groups.emplace_back();
  ranked.name = "rg";
  ranked.rank_from = LabelFieldPath(kGroupPodIndexLabel);
  if (as_kueue) {
    for (const MemberPods& pods : members.pods) {
      if (by_first && pods.group.name != members.role) continue;
      ranked.eq_groups.push_back(pods.group);
      if (by_first) ranked.eq_groups.back().max_count = total;
    }
  } else {
    TakePods(members, ranked);
  }
  if (!by_first) WaitForPods(members.Seen(), gang, workload);
  for (EqGroup& group : ranked.eq_groups) group.min_count = group.max_count;
  workload.running = members.Seen() > 0 && members.Seen() == members.Bound();
  return workload;
}

}  // namespace espalier
