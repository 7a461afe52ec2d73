#include "host/readers/job_metadata.hpp"

#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

constexpr std::string_view kQueueName = "kueue.x-k8s.io/queue-name";
constexpr std::string_view kKaiQueue = "kai.scheduler/queue";
constexpr std::string_view kPriorityClass = "kueue.x-k8s.io/priority-class";

}  // namespace

Workload ReadWorkloadHead(JsonValue object, const ReadContext& context) {
  Workload workload;
  workload.key = ReadObjectKey(object, context);
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    workload.uid = TextMember(*metadata, "uid", context);
    workload.labels = TextMapMember(*metadata, "labels", context);
    workload.annotations = TextMapMember(*metadata, "annotations", context);
    workload.creation_seconds = TimeMember(*metadata, "creationTimestamp", context).value_or(0);
  }
  for (const std::string_view label : {kQueueName, kKaiQueue}) {
    const std::string* queue = workload.labels.Find(label);
    if (queue != nullptr && workload.queue_name.empty()) workload.queue_name = *queue;
  }
  return workload;
}

void ReadJobPriority(JsonValue object, const std::vector<JsonValue>& templates,
                     const ReadContext& context, const ClusterDefaults& defaults,
                     Workload& workload) {
  const ClusterDefaults::Values* values = &defaults.workload_priority_classes;
  JsonValue at = object;
  if (const std::string* name = workload.labels.Find(kPriorityClass)) {
    workload.priority_class = *name;
    at = Member(*Member(*Member(object, "metadata"), "labels"), kPriorityClass).value_or(object);
  } else {
    for (const JsonValue pod_template : templates) {
      const auto spec = ObjectMember(pod_template, "spec", context);
      if (!spec || !workload.priority_class.empty()) continue;
      values = &defaults.priority_classes;
      workload.priority_class = TextMember(*spec, "priorityClassName", context);
      at = *spec;
    }
  }
  if (workload.priority_class.empty()) {
    workload.priority = defaults.default_priority.value_or(0);
  } else if (const auto it = values->find(workload.priority_class); it != values->end()) {
    workload.priority = it->second;
  } else {
    context.Warn(at,
                 "the priority class " + workload.priority_class +
                     " is not in the input, so the priority counts as 0",
                 "the priority class among the files");
  }
}

}  // namespace espalier
