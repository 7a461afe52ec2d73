// RayClusters, RayJobs and RayServices.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/ray_head.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {
namespace {

// Values of submissionMode, which says how a RayJob is submitted.
constexpr std::string_view kByJob = "K8sJobMode";  // the default
constexpr std::string_view kBySidecar = "SidecarMode";

std::int32_t Times(std::int32_t replicas, std::int32_t hosts) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::min(kMost, std::int64_t{replicas} * std::max(hosts, 1)));
}

// The parts of an object, gathered while it is read.
struct RayParts {
  GangGroup gang = {.name = "gg"};
  std::vector<JsonValue> templates;  // of the pods as they will be
  MadeObjects made;                  // some of these
};

// Pods of a worker group: its replicas times its hosts.
struct GroupCount {
  std::int32_t now = 0;
  std::int32_t least = 0;
  std::int32_t most = 0;
};

// Absent numbers are those that the API server fills in.
GroupCount CountOf(JsonValue group, bool scales, const ReadContext& context) {
  const std::int32_t hosts = Int32Member(group, "numOfHosts", context).value_or(1);
  const std::int32_t replicas = Int32Member(group, "replicas", context).value_or(0);
  const auto least = Int32Member(group, "minReplicas", context);
  const auto most = Int32Member(group, "maxReplicas", context);
  const std::int32_t now = Times(replicas, hosts);
  if (!scales) return {now, now, now};
  return {now, least ? Times(std::min(*least, replicas), hosts) : now,
          most ? Times(std::max(*most, replicas), hosts) : now};
}

// Adds a pod set of the pods of `of`; nothing when they have no template.
EqGroup* AddPods(JsonValue of, std::string name, std::int32_t count, const SourceContext& context,
                 RayParts& parts) {
  const auto pods = RequiredObject(of, "template", "the pod template", context);
  if (!pods) return nullptr;
  parts.templates.push_back(*pods);
  EqGroup group = ReadEqGroup(std::move(name), *pods, count, {}, context);
  return &AddRankedGroup(parts.gang, std::move(group), "").eq_groups[0];
}

// Adds the head's pod, which asks for more than its template does (R30.3).
void AddHead(JsonValue object, JsonValue cluster, bool with_submitter, const SourceContext& context,
             RayParts& parts) {
  const auto head = RequiredObject(cluster, "headGroupSpec", "the head's pods", context);
  EqGroup* group = head ? AddPods(*head, "head", 1, context, parts) : nullptr;
  if (group == nullptr) return;
  JsonValue& pods = parts.templates.back();
  const auto made = MadeHead(object, cluster, pods, with_submitter, context.read, parts.made);
  if (!made) return;
  pods = *made;
  const QuietContext quiet(context);
  group->pod_template->requests = ReadEqGroup("", pods, 1, {}, *quiet).pod_template->requests;
}

// Adds the head and the worker groups of a RayClusterSpec.
void AddCluster(JsonValue object, JsonValue cluster, bool with_submitter,
                const SourceContext& context, RayParts& parts) {
  const bool scales = BoolMember(cluster, "enableInTreeAutoscaling", context.read).value_or(false);
  AddHead(object, cluster, with_submitter, context, parts);
  ReadList(cluster, "workerGroupSpecs", context.read, [&](JsonValue group) {
    const GroupCount count = CountOf(group, scales, context.read);
    EqGroup* added = AddPods(group, LowerCase(RequiredText(group, "groupName", context.read)),
                             count.now, context, parts);
    if (added != nullptr && scales) {
      added->count = count.now;
      added->min_count = count.least;
      added->max_count = count.most;
    }
    return 0;
  });
}

// Adds the pod that submits a RayJob; without a template it is KubeRay's own.
void AddSubmitter(JsonValue spec, const SourceContext& context, RayParts& parts) {
  if (const auto pods = ObjectMember(spec, "submitterPodTemplate", context.read)) {
    parts.templates.push_back(*pods);
    AddRankedGroup(parts.gang, ReadEqGroup("submitter", *pods, 1, {}, context), "");
    return;
  }
  const JsonValue pods =
      parts.made.emplace_back(fmt::format(R"({{"spec":{{"containers":[{}]}}}})", kRaySubmitter))
          .value();
  parts.templates.push_back(pods);
  const QuietContext quiet(context);
  AddRankedGroup(parts.gang, ReadEqGroup("submitter", pods, 1, {}, *quiet), "");
}

}  // namespace

void ReadRay(JsonValue object, const SourceContext& context, std::vector<GangWorkload>& workloads) {
  GangWorkload workload = BeginWorkload(object, context);
  ReadJobState(object, context, workload);
  const auto spec = SpecOf(object, context);
  if (!spec) return;
  const std::string_view field = context.kind == "RayJob"       ? "rayClusterSpec"
                                 : context.kind == "RayService" ? "rayClusterConfig"
                                                                : "";
  std::string submission;
  if (context.kind == "RayJob") {
    submission = ReadWord(*spec, "submissionMode",
                          {kByJob, kBySidecar, "HTTPMode", "InteractiveMode"}, context.read);
    if (submission.empty()) submission = kByJob;
  }
  std::optional<JsonValue> cluster = spec;
  if (!field.empty()) cluster = ObjectMember(*spec, field, context.read);
  workload.whole = true;
  RayParts parts;
  if (cluster) {
    AddCluster(object, *cluster, submission == kBySidecar, context, parts);
  } else if (Member(*spec, "clusterSelector")) {
    workload.notes.push_back("it runs on a RayCluster that is there already");
    workload.head.reconcile_error = "Kueue leaves jobs alone that run on a cluster that is there";
  } else {
    context.read.Missing(*spec, field, "the cluster to run on");
  }
  if (submission == kByJob && (cluster || !context.as_kueue)) {
    AddSubmitter(*spec, context, parts);
  } else if (!submission.empty() && cluster && Member(*spec, "submitterPodTemplate")) {
    workload.notes.push_back(
        fmt::format("spec.submitterPodTemplate is not used with submissionMode {}", submission));
  }
  if (!parts.gang.ranked_groups.empty()) workload.gang_groups.push_back(std::move(parts.gang));
  FinishWorkload(workload, object, parts.templates, context);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
