#include <algorithm>

#include "host/model/kueue_keys.hpp"
#include "host/model/parse_integer.hpp"
#include "host/readers/job_metadata.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/sources/pods_of_job.hpp"

namespace espalier {
namespace {

constexpr std::string_view kPodSetPrefix = "kueue.x-k8s.io/podset-";
constexpr std::string_view kCompletionIndex = "batch.kubernetes.io/job-completion-index";  // R22.9

std::optional<std::int32_t> MinParallelism(JsonValue metadata, const ReadContext& context) {
  const auto annotations = ObjectMember(metadata, "annotations", context);
  const auto text =
      annotations ? StringMember(*annotations, kMinParallelismAnnotation, context) : std::nullopt;
  if (!text) return std::nullopt;
  const auto count = ParseInteger<std::int32_t>(*text);
  if (count && *count > 0) return count;
  context.Error(*Member(*annotations, kMinParallelismAnnotation), "it is not a number of pods",
                "an integer of 1 or more");
  return std::nullopt;
}

void ReadJobStatus(JsonValue status, bool of_kueue, const ReadContext& context,
                   Workload& workload) {
  for (const Condition& condition : ReadConditions(status, context)) {
    if (condition.status == "True" &&
        (condition.type == "Complete" || condition.type == "Failed")) {
      workload.conditions.push_back({"Finished", "True", condition.reason, condition.message});
      return;
    }
  }
  if (Int32Member(status, "active", context).value_or(0) > 0 && of_kueue) {
    context.Warn(status,
                 "the Job has running pods but its Workload is not in the input, so it counts "
                 "as pending",
                 "the output of `kubectl get workloads -A -o json` among the files");
  }
}

}  // namespace

bool IsKueueJob(JsonValue object) {
  simdjson::dom::object fields;
  JsonValue value;
  if (object["metadata"]["labels"][kQueueNameLabel].get(value) == simdjson::SUCCESS) return true;
  if (object["spec"]["template"]["metadata"]["annotations"].get(fields) != simdjson::SUCCESS) {
    return false;
  }
  return std::any_of(fields.begin(), fields.end(),
                     [](const auto& field) { return field.key.starts_with(kPodSetPrefix); });
}

Workload ReadJob(JsonValue object, const ReadContext& context, const ClusterDefaults& defaults) {
  Workload workload = ReadWorkloadHead(object, context);
  ApplyKueueDefaults(object, defaults, workload);
  PodSet main;
  main.name = "main";
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    main.min_count = MinParallelism(*metadata, context);
  }
  workload.owners.push_back({.api_version = "batch/v1",
                             .kind = "Job",
                             .name = workload.key.name,
                             .uid = workload.uid,
                             .controller = true});
  if (const auto status = ObjectMember(object, "status", context)) {
    ReadJobStatus(*status, IsKueueJob(object), context, workload);
  }
  const auto spec = ObjectMember(object, "spec", context);
  const auto pod_template = spec ? ObjectMember(*spec, "template", context) : std::nullopt;
  if (!pod_template) {
    context.Missing(spec.value_or(object), spec ? "template" : "spec", "the Job's pod template");
    return workload;
  }
  ReadJobPriority(object, {*pod_template}, context, defaults, workload);
  main.count = PodsOfJob(*spec, context);
  main.pod_template = ReadPodTemplate(*pod_template, context, defaults, workload.key.namespace_);
  ReadTemplateErrors({*pod_template}, context, defaults, workload);
  main.topology_request = ReadTopologyAnnotations(*pod_template, kCompletionIndex, context);
  workload.pod_sets.push_back(std::move(main));
  return workload;
}

}  // namespace espalier
