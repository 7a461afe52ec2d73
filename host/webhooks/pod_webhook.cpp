// The webhook of Pods.
#include <fmt/format.h>

#include "host/model/go_texts.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/name_errors.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/sources/part_reference.hpp"
#include "host/webhooks/job_checks.hpp"

namespace espalier {
namespace {

constexpr std::string_view kSuspendingParent = "kueue.x-k8s.io/pod-suspending-parent";

StringMap MapOf(JsonValue pod, std::string_view name, const ReadContext& context) {
  const auto metadata = Member(pod, "metadata");
  return metadata && metadata->is_object() ? TextMapMember(*metadata, name, context) : StringMap();
}

// The parts of a pod's metadata that the rules look at.
struct PodMetadata {
  StringMap labels;
  StringMap annotations;
};

// Kueue sets the label of the pods that it manages, whatever they say.
void CheckManaged(const JobCheck& check, const PodMetadata& pod) {
  const std::string* managed = pod.labels.Find(kManagedLabel);
  if (managed == nullptr || *managed == "true") return;
  const SourceContext& context = check.job.context;
  const bool has_default = context.defaults.namespaces_with_default_queue.contains(
      NamespaceOfObject(check.job.value, context.read));
  if (HasQueueName(check) || has_default || pod.annotations.Contains(kSuspendingParent)) return;
  check.found.Forbidden(LabelPath(kManagedLabel), "managed label value can only be 'true'",
                        *managed);
}

std::string CountProblem(std::string_view text) {
  const auto count = ParseGoInt("Atoi", text);
  if (!count) return count.error().message;
  if (*count >= 1) return "";
  return fmt::format(
      "incorrect annotation value '{}={}': group total count should be greater than zero",
      kPodGroupTotalCount, text);
}

void CheckGroup(const JobCheck& check, const PodMetadata& pod) {
  const KueueGroupName group = KueueGroupOf(check.job.value);
  const std::string name_path = fmt::format(
      "metadata.{}[{}]", group.in_annotation ? "annotations" : "labels", kKueuePodGroupName);
  const std::string count_path = AnnotationPath(kPodGroupTotalCount);
  const std::string both =
      fmt::format("both the '{}' annotation and the '{}' {} should be set", kPodGroupTotalCount,
                  kKueuePodGroupName, group.in_annotation ? "annotation" : "label");
  const std::string* count = pod.annotations.Find(kPodGroupTotalCount);
  if (group.name.empty()) {
    if (count != nullptr) return check.found.Required(name_path, both);
    return;
  }
  for (const std::string& error : DnsSubdomainErrors(group.name)) {
    check.found.Invalid(name_path, group.name, error);
  }
  if (count == nullptr) return check.found.Required(count_path, both);
  if (const std::string problem = CountProblem(*count); !problem.empty()) {
    check.found.Invalid(count_path, *count, problem);
  }
}

// A group has the Workload of its own name.
void CheckPrebuiltOfGroup(const JobCheck& check, const PodMetadata& pod) {
  const std::string_view group = KueueGroupOf(check.job.value).name;
  const std::string* prebuilt = pod.labels.Find(kPrebuiltWorkload);
  if (group.empty() || prebuilt == nullptr || *prebuilt == group) return;
  check.found.Invalid(LabelPath(kPrebuiltWorkload), *prebuilt,
                      "prebuilt workload and pod group should be equal");
}

}  // namespace

void CheckPod(const JobCheck& check) {
  const ReadContext& read = check.job.context.read;
  const PodMetadata pod{MapOf(check.job.value, "labels", read),
                        MapOf(check.job.value, "annotations", read)};
  CheckJobMetadata(check);
  CheckManaged(check, pod);
  CheckGroup(check, pod);
  CheckTopologyAnnotations({"metadata.annotations", pod.annotations, 1}, check.gates, check.found);
  CheckPrebuiltOfGroup(check, pod);
}

}  // namespace espalier
