#include "host/readers/sources/pod_members.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "host/readers/job_metadata.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/sources/part_reference.hpp"

namespace espalier {
namespace {

using Kind = PartReference::Kind;

constexpr std::string_view kRoleHash = "kueue.x-k8s.io/role-hash";
constexpr std::string_view kTotalCount = "kueue.x-k8s.io/pod-group-total-count";
constexpr std::string_view kGroupPodIndex = "kueue.x-k8s.io/pod-group-pod-index";  // R22.9
constexpr std::string_view kWorkloadAnnotation = "kueue.x-k8s.io/workload";
constexpr std::string_view kPodSetLabel = "kueue.x-k8s.io/podset";
constexpr std::string_view kPrebuilt = "kueue.x-k8s.io/prebuilt-workload-name";

bool HasEnded(const Pod& pod) { return pod.phase == "Succeeded" || pod.phase == "Failed"; }

bool HasContainers(JsonValue pod) {
  simdjson::dom::array containers;
  return pod["spec"]["containers"].get(containers) == simdjson::SUCCESS && containers.size() > 0;
}

// Whether nothing that matters for placing tells the pods apart (W8.4).
bool AreAlike(const PodTemplate& a, const PodTemplate& b) {
  return a.node_selector == b.node_selector && a.tolerations == b.tolerations &&
         a.affinity == b.affinity && a.requests == b.requests &&
         a.ignored_constraints == b.ignored_constraints;
}

EqGroup ShapeOf(JsonValue pod, std::string_view index_label, const ReadContext& context,
                const ClusterDefaults& defaults) {
  EqGroup shape;
  shape.name = AnnotationOf(pod, kRoleHash);
  shape.max_count = 1;
  shape.pod_template = ReadPodTemplate(pod, context, defaults);
  shape.topology_request.levels = ReadTopologyAnnotations(pod, index_label, context);
  return shape;
}

void Add(EqGroup shape, bool bound, bool by_labels, PartMembers& members) {
  const auto it = std::ranges::find_if(members.pods, [&](const MemberPods& one) {
    return one.group.name == shape.name && AreAlike(*one.group.pod_template, *shape.pod_template) &&
           (!by_labels || one.group.pod_template->labels == shape.pod_template->labels);
  });
  const bool is_new = it == members.pods.end();
  MemberPods& pods = is_new ? members.pods.emplace_back() : *it;
  if (is_new) {
    pods.group = std::move(shape);
    pods.group.max_count = 0;
  }
  pods.group.max_count = *pods.group.max_count + 1;
  if (bound) ++pods.bound;
}

std::string TitleOf(JsonValue object) { return ObjectTitle(object, ""); }

// A pod that nothing groups.
GangWorkload PodAlone(JsonValue pod, const ReadContext& context, const ClusterDefaults& defaults) {
  GangWorkload workload;
  workload.head = ReadWorkloadHead(pod, context);
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
  EqGroup group = ShapeOf(pod, "", context, defaults);
  group.name = "main";
  group.min_count = 1;
  AddRankedGroup(gang, std::move(group), "").name = "rg";
  return workload;
}

}  // namespace

PodMembers ReadPodMembers(const ObjectIndex& index, const Cluster& cluster,
                          const ClusterDefaults& defaults, const OwnerIndex& owners,
                          Diagnostics& diagnostics) {
  PodMembers result;
  const std::vector<IndexedObject>& objects = index.Of(ObjectKind::kPod);
  for (std::size_t i = 0; i < objects.size() && i < cluster.pods.size(); ++i) {
    const Pod& pod = cluster.pods[i];
    if (HasEnded(pod)) continue;
    const JsonValue object = objects[i].value;
    const ReadContext context = index.ContextOf(ObjectKind::kPod, objects[i], diagnostics);
    PartReference reference = ReadPartReference(object, context);
    const bool bound = !pod.node_name.empty();
    if (bound && reference.kind == Kind::kNone) continue;
    const std::optional<JsonValue> owner =
        reference.kind == Kind::kNone ? std::nullopt : owners.TopOwner(object);
    if (reference.kind == Kind::kWorkloadPodGroup &&
        (IgnoresWorkloadApi(object) || (owner && IgnoresWorkloadApi(*owner)))) {
      reference = {};  // W4.5
    }
    const bool of_kueue = !AnnotationOf(object, kWorkloadAnnotation).empty() ||
                          !LabelOf(object, kPodSetLabel).empty() ||
                          !LabelOf(object, kPrebuilt).empty() ||
                          owners.HasWorkload("Pod", pod.key.namespace_, pod.key.name, pod.uid);
    if (of_kueue && (reference.kind == Kind::kNone || reference.kind == Kind::kKueuePodGroup)) {
      continue;
    }
    if (reference.kind != Kind::kNone) {
      PartMembers& members = result.members[{pod.key.namespace_, reference}];
      const bool grouped_by_kueue = reference.kind == Kind::kKueuePodGroup;
      Add(ShapeOf(object, grouped_by_kueue ? kGroupPodIndex : "", context, defaults), bound,
          reference.kind == Kind::kWorkload, members);
      if (!members.pod) members.pod = object;
      if (!members.owner && owner) {
        members.owner = owner;
        members.owner_title = TitleOf(*owner);
      }
      continue;
    }
    if (bound || !HasContainers(object)) continue;
    // A pod of a cluster that Kueue does not manage is for another scheduler.
    const bool of_a_cluster = !pod.phase.empty();
    if (of_a_cluster && LabelOf(object, kQueueNameLabel).empty()) continue;
    if (pod.owners.empty()) {
      result.alone.push_back(PodAlone(object, context, defaults));
    } else if (!owners.TopOwner(object)) {
      ++result.skipped["Pod without a node whose owner is not in the input"];
    }
  }
  return result;
}

GangWorkload KueuePodGroup(const std::string& name_space, const std::string& name,
                           const PartMembers& members, const ClusterDefaults& defaults,
                           Diagnostics& diagnostics) {
  GangWorkload workload;
  const JsonValue pod = *members.pod;
  const ReadContext context{.diagnostics = diagnostics, .file = "", .root = pod, .kind = "Pod"};
  workload.head = ReadWorkloadHead(pod, context);
  workload.head.key = {name_space, name};
  workload.head.uid.clear();
  workload.source = "v1 Pod";
  workload.whole = true;
  ReadJobPriority(pod, {pod}, context, defaults, workload.head);
  const std::string_view text = AnnotationOf(pod, kTotalCount);
  std::int32_t total = members.Seen();
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), total);
  if (code != std::errc{} || end != text.data() + text.size()) {
    workload.notes.push_back(fmt::format(
        "its pods do not say in {} how many they are: {} are there", kTotalCount, total));
  }
  GangGroup& gang = workload.gang_groups.emplace_back();
  gang.min_count = total;
  gang.max_count = total;
  RankedGroup& ranked = gang.ranked_groups.emplace_back();
  ranked.name = "rg";
  ranked.rank_from = LabelFieldPath(kGroupPodIndex);
  TakePods(members, ranked);
  for (EqGroup& group : ranked.eq_groups) group.min_count = group.max_count;
  WaitForPods(workload, members.Seen(), members.Bound());
  return workload;
}

}  // namespace espalier
