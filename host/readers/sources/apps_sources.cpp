// Deployments, ReplicaSets, StatefulSets and LeaderWorkerSets.
#include <fmt/format.h>

#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {
namespace {

constexpr std::string_view kPodIndex = "apps.kubernetes.io/pod-index";  // R22.9
constexpr std::string_view kSubGroupIndex = "leaderworkerset.sigs.k8s.io/subgroup-index";

// Bounds of an autoscaler that scales the object: its minReplicas and maxReplicas. Kueue looks at
// the replicas of the object alone.
void ReadAutoscaler(const SourceContext& context, GangWorkload& workload, EqGroup& group) {
  const auto scaler = context.find("HorizontalPodAutoscaler for " + std::string(context.kind),
                                   workload.head.key.namespace_, workload.head.key.name);
  const auto spec = scaler ? Member(scaler->value, "spec") : std::nullopt;
  if (!spec) return;
  const ReadContext of_scaler = ContextOf(*scaler, context);
  const std::int32_t least = Int32Member(*spec, "minReplicas", of_scaler).value_or(1);
  const auto most = Int32Member(*spec, "maxReplicas", of_scaler);
  if (context.as_kueue) return;
  group.count = group.min_count;
  group.min_count = least;
  group.max_count = most;
}

// Returns the object's replicas; none where they are no count, which is reported.
std::int32_t ReadReplicas(JsonValue spec, const ReadContext& context) {
  const auto value = Member(spec, "replicas");
  if (!value || value->is_null()) return 1;
  return Int32Member(spec, "replicas", context).value_or(0);
}

// Kueue makes no Workload of an object without replicas.
void NoteReplicas(std::int32_t replicas, const SourceContext& context, GangWorkload& workload) {
  if (context.as_kueue && replicas <= 0) workload.head.reconcile_error = "it has no replicas";
}

// A workload of one kind of pods, as far as it was read.
struct OneTemplate {
  GangWorkload workload;
  JsonValue spec;
  JsonValue pods;
};

// Reads what all of them have; nullopt where there is no pod template.
std::optional<OneTemplate> ReadOneTemplate(JsonValue object, const SourceContext& context) {
  OneTemplate read{BeginWorkload(object, context), {}, {}};
  ReadJobState(object, context, read.workload);
  const auto spec = SpecOf(object, context);
  const auto pods =
      spec ? RequiredObject(*spec, "template", "the pod template", context) : std::nullopt;
  if (!pods) return std::nullopt;
  read.spec = *spec;
  read.pods = *pods;
  return read;
}

}  // namespace

void ReadReplicatedPods(JsonValue object, const SourceContext& context,
                        std::vector<GangWorkload>& workloads) {
  std::optional<OneTemplate> read = ReadOneTemplate(object, context);
  if (!read) return;
  GangWorkload& workload = read->workload;
  workload.replica_mode = ReplicaMode::kReplicatedPods;
  workload.replicas = ReadReplicas(read->spec, context.read);
  GangGroup& gang = workload.gang_groups.emplace_back();
  gang.name = "gg";
  gang.mode = GangMode::kOff;
  // Kueue sees its pods one by one, each a Workload as of a pod alone (R30.1).
  const PodIndex index{context.as_kueue ? kGroupPodIndexLabel : std::string_view()};
  EqGroup group =
      ReadEqGroup("main", read->pods, *workload.replicas, index, context, PodOrigin::kPod);
  ReadAutoscaler(context, workload, group);
  AddRankedGroup(gang, std::move(group), "").name = "rg";
  FinishWorkload(workload, object, {read->pods}, context, PodOrigin::kPod);
  NoteReplicas(*workload.replicas, context, workload);
  workloads.push_back(std::move(workload));
}

void ReadStatefulSet(JsonValue object, const SourceContext& context,
                     std::vector<GangWorkload>& workloads) {
  std::optional<OneTemplate> read = ReadOneTemplate(object, context);
  if (!read) return;
  GangWorkload& workload = read->workload;
  const bool named_in_order =
      StringMember(read->spec, "podManagementPolicy", context.read) == "InOrder";
  if (named_in_order) {
    context.read.Warn(*Member(read->spec, "podManagementPolicy"), "there is no such policy",
                      "OrderedReady, as which it is read");
  }
  const bool parallel =
      !named_in_order && ReadWord(read->spec, "podManagementPolicy", {"OrderedReady", "Parallel"},
                                  context.read) == "Parallel";
  const std::int32_t replicas = ReadReplicas(read->spec, context.read);
  workload.whole = true;
  GangGroup& gang = workload.gang_groups.emplace_back();
  gang.name = "gg";
  EqGroup group = ReadEqGroup("main", read->pods, replicas, {kPodIndex}, context);
  if (const auto claims = ArrayMember(read->spec, "volumeClaimTemplates", context.read);
      claims && claims->size() > 0) {
    group.pod_template->ignored_constraints.emplace_back("volume claim templates");
  }
  if (!parallel) {
    workload.replica_mode = ReplicaMode::kReplicatedPods;
    workload.replicas = replicas;
    gang.mode = GangMode::kOff;
    ReadAutoscaler(context, workload, group);
    workload.notes.push_back("its pods start one by one, but are placed as a whole, as in Kueue");
  }
  AddRankedGroup(gang, std::move(group), parallel ? kPodIndex : "").name = "rg";
  FinishWorkload(workload, object, {read->pods}, context, PodOrigin::kSpecOfTemplate);
  NoteReplicas(replicas, context, workload);
  workloads.push_back(std::move(workload));
}

namespace {

constexpr std::string_view kExclusive = "leaderworkerset.sigs.k8s.io/exclusive-topology";
constexpr std::string_view kSubGroupExclusive =
    "leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology";

// The sub-groups that the pods of a replica fall into. Returns the segments that they are, where
// `level` is not empty: each in one domain of it.
std::optional<SliceConstraint> ReadSubGroups(JsonValue pods, std::int32_t size,
                                             std::string_view level, const SourceContext& context,
                                             GangWorkload& workload, PodIndex& index) {
  const auto policy = ObjectMember(pods, "subGroupPolicy", context.read);
  const auto sub_size =
      policy ? Int32Member(*policy, "subGroupSize", context.read, 1) : std::nullopt;
  if (!sub_size) return std::nullopt;
  const bool leader_apart =
      StringMember(*policy, "subGroupPolicyType", context.read).value_or("") == "LeaderExcluded";
  const std::int32_t members = leader_apart ? size - 1 : size;
  const auto sub_groups =
      static_cast<std::int32_t>((std::int64_t{members} + *sub_size - 1) / *sub_size);
  if (!context.as_kueue) {  // Kueue has no index of them
    index.sub_group_label = kSubGroupIndex;
    index.sub_group_count = sub_groups;
  }
  const bool leader_inside = !leader_apart && ObjectMember(pods, "leaderTemplate", context.read);
  if (level.empty() || leader_inside) {
    workload.notes.push_back(
        fmt::format("each replica has {} subgroup{} of {} pods; they are not placed by subgroup{}",
                    sub_groups, sub_groups == 1 ? "" : "s", *sub_size,
                    level.empty() ? "" : ", as the leader is in one of them"));
    return std::nullopt;
  }
  return SliceConstraint{std::string(level), *sub_size};
}

// The pods of one replica: the leader, if it has a template of its own, and the workers.
RankedGroup ReadReplica(JsonValue pods, std::string_view sub_group_level,
                        const SourceContext& context, GangWorkload& workload,
                        std::vector<JsonValue>& templates) {
  RankedGroup ranked;
  ranked.name = "rg";
  ranked.rank_from = LabelFieldPath(kWorkerIndex);
  const std::int32_t size = Int32Member(pods, "size", context.read).value_or(1);
  PodIndex index{kWorkerIndex};
  auto segments = ReadSubGroups(pods, size, sub_group_level, context, workload, index);
  const auto leader = ObjectMember(pods, "leaderTemplate", context.read);
  if (leader) {
    ranked.eq_groups.push_back(ReadEqGroup("leader", *leader, 1, {}, context));
    templates.push_back(*leader);
  }
  const auto worker = RequiredObject(pods, "workerTemplate", "the pod template", context);
  if (!worker) return ranked;
  templates.push_back(*worker);
  if (leader && size <= 1 && !context.as_kueue) return ranked;
  EqGroup group =
      ReadEqGroup(leader ? "worker" : "main", *worker, leader ? size - 1 : size, index, context);
  if (!segments && !sub_group_level.empty() && ObjectMember(pods, "subGroupPolicy", context.read)) {
    group.kept_apart.push_back(fmt::format("a domain of {} for each subgroup", sub_group_level));
  }
  group.topology_request.segments = std::move(segments);
  const auto& request = group.topology_request.levels;
  if (leader && !(request && request->pod_set_group_name)) {
    group.pod_template->annotations.Set(kPodIndexOffsetAnnotation, "1");  // R22.9
  }
  ranked.eq_groups.push_back(std::move(group));
  return ranked;
}

}  // namespace

void ReadLeaderWorkerSet(JsonValue object, const SourceContext& context,
                         std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  ReadJobState(object, context, workload);
  const auto spec = SpecOf(object, context);
  const auto pods =
      spec ? RequiredObject(*spec, "leaderWorkerTemplate", "the pods of a replica", context)
           : std::nullopt;
  if (!pods) return;
  workload.replica_mode = ReplicaMode::kReplicatedGangs;
  workload.whole = context.as_kueue;
  workload.replicas = ReadReplicas(*spec, context.read);
  workload.exclusive_level = AnnotationOf(object, kExclusive);
  if (!workload.exclusive_level.empty()) {
    workload.notes.push_back(fmt::format(
        "annotation {}: pods of others may be in the domains of its replicas", kExclusive));
  }
  const std::string_view sub_group_level = AnnotationOf(object, kSubGroupExclusive);
  if (!sub_group_level.empty()) {
    workload.notes.push_back(fmt::format("annotation {}: others may share the domain of a subgroup",
                                         kSubGroupExclusive));
  }
  if (context.find("HorizontalPodAutoscaler for LeaderWorkerSet", workload.head.key.namespace_,
                   workload.head.key.name)) {
    workload.notes.push_back("its autoscaler is not honoured: the replicas are those of its spec");
  }
  std::vector<JsonValue> templates;
  GangGroup& gang = workload.gang_groups.emplace_back();
  gang.name = "gg";
  if (!workload.exclusive_level.empty() && !context.as_kueue) {  // Kueue does not look at it
    gang.topology_request.levels.emplace().required = workload.exclusive_level;
  }
  gang.ranked_groups.push_back(ReadReplica(*pods, sub_group_level, context, workload, templates));
  FinishWorkload(workload, object, templates, context);
  NoteReplicas(*workload.replicas, context, workload);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
