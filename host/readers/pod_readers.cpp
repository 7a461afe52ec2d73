#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

constexpr std::string_view kKueuePrefix = "kueue.x-k8s.io/";

StringMap KueueAnnotations(JsonValue metadata, const ReadContext& context) {
  StringMap kept;
  const auto annotations = ObjectMember(metadata, "annotations", context);
  if (!annotations) return kept;
  for (const auto [name, value] : Fields(*annotations)) {
    std::string_view text;
    if (name.starts_with(kKueuePrefix) && value.get(text) == simdjson::SUCCESS) {
      kept.Set(name, std::string(text));
    }
  }
  return kept;
}

std::vector<OwnerReference> ControllerOf(JsonValue metadata, const ReadContext& context) {
  std::vector<OwnerReference> owners = ReadOwners(metadata, context);
  std::erase_if(owners, [](const OwnerReference& owner) { return !owner.controller; });
  return owners;
}

}  // namespace

Pod ReadPod(JsonValue object, const ReadContext& context, const ClusterDefaults& defaults) {
  Pod pod;
  pod.key = ReadObjectKey(object, context);
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    pod.uid = TextMember(*metadata, "uid", context);
    pod.labels = TextMapMember(*metadata, "labels", context);
    pod.annotations = KueueAnnotations(*metadata, context);
    pod.owners = ControllerOf(*metadata, context);
  }
  if (const auto status = ObjectMember(object, "status", context)) {
    pod.phase = TextMember(*status, "phase", context);
  }
  if (const auto spec = ObjectMember(object, "spec", context)) {
    pod.node_name = TextMember(*spec, "nodeName", context);
    pod.node_selector = TextMapMember(*spec, "nodeSelector", context);
    pod.scheduling_gates = ReadList(*spec, "schedulingGates", context, [&](JsonValue gate) {
      return TextMember(gate, "name", context);
    });
    pod.requests = EffectiveRequests(*spec, context, defaults, nullptr);
  }
  return pod;
}

PodTemplate ReadPodTemplate(JsonValue object, const ReadContext& context,
                            const ClusterDefaults& defaults, std::string_view name_space) {
  PodTemplate pod_template;
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    pod_template.labels = TextMapMember(*metadata, "labels", context);
    pod_template.annotations = TextMapMember(*metadata, "annotations", context);
  }
  const auto spec = ObjectMember(object, "spec", context);
  if (!spec) return pod_template;
  pod_template.node_selector = TextMapMember(*spec, "nodeSelector", context);
  pod_template.tolerations = ReadTolerations(*spec, "tolerations", context);
  if (const auto affinity = ObjectMember(*spec, "affinity", context)) {
    pod_template.affinity = ReadNodeAffinity(*affinity, context);
  }
  const auto limit_range = defaults.container_default_requests.find(name_space);
  pod_template.requests = EffectiveRequests(
      *spec, context, defaults,
      limit_range == defaults.container_default_requests.end() ? nullptr : &limit_range->second);
  return pod_template;
}

}  // namespace espalier
