#include "host/readers/job_metadata.hpp"

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"
#include "host/readers/resource_limits.hpp"
#include "host/readers/workload_webhook.hpp"

namespace espalier {
namespace {

constexpr std::string_view kKaiQueue = "kai.scheduler/queue";
constexpr std::string_view kPriorityClass = "kueue.x-k8s.io/priority-class";
constexpr std::string_view kOfPodSets = "kueue.x-k8s.io/podset-";

// Warns of requests of pod sets on what has a template of pods: Kueue looks for them there alone.
void WarnOfMisplacedRequests(JsonValue object, JsonValue metadata, const ReadContext& context) {
  const auto spec = Member(object, "spec");
  const auto annotations = Member(metadata, "annotations");
  if (!spec || !spec->is_object() || Member(*spec, "containers")) return;  // a pod
  if (!annotations || !annotations->is_object()) return;
  for (const auto [key, value] : Fields(*annotations)) {
    if (!std::string_view(key).starts_with(kOfPodSets)) continue;
    context.Warn(value,
                 fmt::format("annotation {} is not honoured here, where Kueue does not look for it",
                             Excerpt(key)),
                 "it in the metadata of the pod template, such as spec.template.metadata");
  }
}

}  // namespace

Workload ReadWorkloadHead(JsonValue object, const ReadContext& context) {
  Workload workload;
  workload.key = ReadObjectKey(object, context);
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    workload.uid = TextMember(*metadata, "uid", context);
    workload.labels = TextMapMember(*metadata, "labels", context);
    workload.annotations = TextMapMember(*metadata, "annotations", context);
    workload.creation_seconds = TimeMember(*metadata, "creationTimestamp", context).value_or(0);
    WarnOfMisplacedRequests(object, *metadata, context);
  }
  for (const std::string_view label : {kQueueNameLabel, kKaiQueue}) {
    const std::string* queue = workload.labels.Find(label);
    if (queue != nullptr && workload.queue_name.empty()) workload.queue_name = *queue;
  }
  return workload;
}

void ApplyKueueDefaults(JsonValue object, const ClusterDefaults& defaults, Workload& workload) {
  const auto metadata = Member(object, "metadata");
  if (!metadata || !metadata->is_object() || Member(*metadata, "creationTimestamp")) return;
  AddDefaultLabels(defaults, workload);
}

void AddDefaultLabels(const ClusterDefaults& defaults, Workload& workload) {
  constexpr std::string_view kDefaultPriorityClass = "default";
  if (workload.queue_name.empty() && !workload.labels.Contains(kQueueNameLabel) &&
      defaults.namespaces_with_default_queue.contains(workload.key.namespace_)) {
    workload.queue_name = kDefaultLocalQueue;
    workload.labels.Set(kQueueNameLabel, std::string(kDefaultLocalQueue));
  }
  if (!workload.queue_name.empty() && !workload.labels.Contains(kPriorityClass) &&
      defaults.workload_priority_classes.contains(kDefaultPriorityClass)) {
    workload.labels.Set(kPriorityClass, std::string(kDefaultPriorityClass));
  }
}

void ReadJobPriority(JsonValue object, const std::vector<JsonValue>& templates,
                     const ReadContext& context, const ClusterDefaults& defaults,
                     Workload& workload) {
  const ClusterDefaults::Values* values = &defaults.workload_priority_classes;
  std::string_view kind = "workloadpriorityclasses.kueue.x-k8s.io";
  JsonValue at = object;
  if (const std::string* name = workload.labels.Find(kPriorityClass)) {
    workload.priority_class = *name;
    JsonValue label;
    if (object["metadata"]["labels"][kPriorityClass].get(label) == simdjson::SUCCESS) at = label;
  } else {
    std::string_view of_policy;
    if (object.at_pointer("/spec/runPolicy/schedulingPolicy/priorityClass").get(of_policy) ==
        simdjson::SUCCESS) {
      values = &defaults.priority_classes;
      kind = "priorityclasses.scheduling.k8s.io";
      workload.priority_class = of_policy;
    }
    for (const JsonValue pod_template : templates) {
      const auto spec = ObjectMember(pod_template, "spec", context);
      if (!spec || !workload.priority_class.empty()) continue;
      values = &defaults.priority_classes;
      kind = "priorityclasses.scheduling.k8s.io";
      workload.priority_class = TextMember(*spec, "priorityClassName", context);
      at = *spec;
    }
  }
  if (workload.priority_class.empty()) {
    workload.priority = defaults.default_priority.value_or(0);
  } else if (const auto it = values->find(workload.priority_class); it != values->end()) {
    workload.priority = it->second;
  } else {
    workload.reconcile_error = fmt::format("{} \"{}\" not found", kind, workload.priority_class);
    context.Warn(at,
                 "the priority class " + workload.priority_class +
                     " is not in the input, so the priority counts as 0",
                 "the priority class among the files");
  }
}

void ReadTemplateErrors(const std::vector<std::optional<JsonValue>>& templates,
                        const ReadContext& context, const ClusterDefaults& defaults,
                        Workload& workload, PodOrigin origin) {
  std::vector<std::optional<JsonValue>> specs;
  Diagnostics reported_elsewhere;
  const ReadContext quiet{reported_elsewhere, context.file, context.root};
  for (const std::optional<JsonValue>& pod_template : templates) {
    specs.push_back(pod_template ? Member(*pod_template, "spec") : std::nullopt);
    const auto metadata = pod_template ? Member(*pod_template, "metadata") : std::nullopt;
    if (!metadata || !metadata->is_object() || !workload.reconcile_error.empty()) continue;
    workload.reconcile_error = TopologyRequestError(TextMapMember(*metadata, "annotations", quiet));
  }
  workload.resources_error =
      ResourcesError(specs, context, defaults, workload.key.namespace_, origin);
  const bool with_labels = origin != PodOrigin::kSpecOfTemplate && origin != PodOrigin::kPod;
  workload.webhook_errors = TemplateErrors(templates, with_labels, context);
}

}  // namespace espalier
