// RayClusters, RayJobs and RayServices.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "host/readers/sources/job_state.hpp"
#include "host/readers/sources/source_kinds.hpp"

namespace espalier {
namespace {

std::int32_t Times(std::int32_t replicas, std::int32_t hosts) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::min(kMost, std::int64_t{replicas} * std::max(hosts, 1)));
}

// Adds the head and the worker groups of a RayClusterSpec.
void AddCluster(JsonValue spec, const SourceContext& context, GangGroup& gang,
                std::vector<JsonValue>& templates) {
  const bool scales = BoolMember(spec, "enableInTreeAutoscaling", context.read).value_or(false);
  const auto add = [&](JsonValue of, std::string name, std::int32_t count) -> EqGroup* {
    const auto pods = RequiredObject(of, "template", "the pod template", context);
    if (!pods) return nullptr;
    templates.push_back(*pods);
    return &AddRankedGroup(gang, ReadEqGroup(std::move(name), *pods, count, {}, context), "")
                .eq_groups[0];
  };
  if (const auto head = RequiredObject(spec, "headGroupSpec", "the head's pods", context)) {
    add(*head, "head", 1);
  }
  ReadList(spec, "workerGroupSpecs", context.read, [&](JsonValue group) {
    const std::int32_t hosts = Int32Member(group, "numOfHosts", context.read).value_or(1);
    const std::int32_t replicas = Int32Member(group, "replicas", context.read).value_or(1);
    const auto least = Int32Member(group, "minReplicas", context.read);
    const auto most = Int32Member(group, "maxReplicas", context.read);
    EqGroup* added = add(group, LowerCase(RequiredText(group, "groupName", context.read)),
                         Times(replicas, hosts));
    if (added != nullptr && scales) {
      added->count = added->min_count;
      if (least) added->min_count = Times(std::min(*least, replicas), hosts);
      if (most) added->max_count = Times(std::max(*most, replicas), hosts);
    }
    return 0;
  });
}

// The pod that submits a RayJob; without a template it is KubeRay's own.
void AddSubmitter(JsonValue spec, const SourceContext& context, GangGroup& gang,
                  std::vector<JsonValue>& templates) {
  if (StringMember(spec, "submissionMode", context.read).value_or("K8sJobMode") != "K8sJobMode") {
    return;
  }
  EqGroup group;
  if (const auto pods = ObjectMember(spec, "submitterPodTemplate", context.read)) {
    group = ReadEqGroup("submitter", *pods, 1, {}, context);
    templates.push_back(*pods);
  } else {
    group.name = "submitter";
    group.min_count = group.max_count = 1;
    group.pod_template.emplace();
    constexpr Amount kMiB = Amount{1} << 20;
    group.pod_template->requests = {{"cpu", 500}, {"memory", 200 * kMiB}};
  }
  AddRankedGroup(gang, std::move(group), "");
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
  std::optional<JsonValue> cluster = spec;
  if (!field.empty()) cluster = ObjectMember(*spec, field, context.read);
  workload.whole = true;
  GangGroup gang;
  gang.name = "gg";
  std::vector<JsonValue> templates;
  if (cluster) {
    AddCluster(*cluster, context, gang, templates);
  } else if (Member(*spec, "clusterSelector")) {
    workload.notes.push_back("it runs on a RayCluster that is there already");
  } else {
    context.read.Missing(*spec, field, "the cluster to run on");
  }
  if (context.kind == "RayJob") AddSubmitter(*spec, context, gang, templates);
  if (!gang.ranked_groups.empty()) workload.gang_groups.push_back(std::move(gang));
  FinishWorkload(workload, object, templates, context);
  workloads.push_back(std::move(workload));
}

}  // namespace espalier
