#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "host/model/jobset_keys.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/readers/kubernetes_objects.hpp"
#include "host/readers/object_metadata.hpp"

namespace espalier {
namespace {

StringMap KueueAnnotations(JsonValue metadata, const ReadContext& context) {
  StringMap kept;
  const auto annotations = ObjectMember(metadata, "annotations", context);
  if (!annotations) return kept;
  for (const auto [name, value] : Fields(*annotations)) {
    std::string_view text;
    const bool is_read = name.starts_with(kKueuePrefix) || name == kExclusiveTopology;
    if (is_read && value.get(text) == simdjson::SUCCESS) {
      kept.Set(name, std::string(text));
    }
  }
  return kept;
}

std::int64_t CountHostPorts(JsonValue pod_spec) {
  std::int64_t ports = 0;
  for (const std::string_view list : {"containers", "initContainers"}) {
    simdjson::dom::array containers;
    if (pod_spec[list].get(containers) != simdjson::SUCCESS) continue;
    for (const JsonValue container : containers) {
      simdjson::dom::array of_container;
      if (container["ports"].get(of_container) != simdjson::SUCCESS) continue;
      for (const JsonValue port : of_container) {
        std::int64_t number = 0;
        if (port["hostPort"].get(number) == simdjson::SUCCESS && number != 0) ++ports;
      }
    }
  }
  return ports;
}

std::int64_t CountVolumeClaims(JsonValue pod_spec) {
  simdjson::dom::array volumes;
  if (pod_spec["volumes"].get(volumes) != simdjson::SUCCESS) return 0;
  return std::count_if(volumes.begin(), volumes.end(), [](JsonValue volume) {
    return Member(volume, "persistentVolumeClaim") || Member(volume, "ephemeral");
  });
}

// Returns whether the member of `parent` holds anything.
bool HasAny(JsonValue parent, std::string_view name) {
  const auto value = Member(parent, name);
  if (!value) return false;
  simdjson::dom::array list;
  return value->get(list) == simdjson::SUCCESS ? list.size() > 0 : true;
}

bool HasTerms(JsonValue affinity, std::string_view name) {
  const auto value = Member(affinity, name);
  return value && (HasAny(*value, "requiredDuringSchedulingIgnoredDuringExecution") ||
                   HasAny(*value, "preferredDuringSchedulingIgnoredDuringExecution"));
}

std::vector<OwnerReference> ControllerOf(JsonValue metadata, const ReadContext& context) {
  std::vector<OwnerReference> owners = ReadOwners(metadata, context);
  std::erase_if(owners, [](const OwnerReference& owner) { return !owner.controller; });
  return owners;
}

// Returns what the API server writes into each pod; else that of the class, or of the default
// class.
std::int64_t PriorityOf(JsonValue pod_spec, const ReadContext& context,
                        const ClusterDefaults& defaults) {
  if (const auto priority = Int64Member(pod_spec, "priority", context)) return *priority;
  const std::string name = TextMember(pod_spec, "priorityClassName", context);
  if (const auto known = defaults.PriorityOf(name)) return *known;
  return name.empty() ? defaults.default_priority.value_or(0) : 0;
}

}  // namespace

std::vector<std::string> IgnoredConstraints(JsonValue pod_spec) {
  std::vector<std::string> ignored;
  if (const auto affinity = Member(pod_spec, "affinity")) {
    if (HasTerms(*affinity, "podAffinity")) ignored.emplace_back("pod affinity");
    if (HasTerms(*affinity, "podAntiAffinity")) ignored.emplace_back("pod anti-affinity");
  }
  if (HasAny(pod_spec, "topologySpreadConstraints")) ignored.emplace_back("topology spread");
  const auto add = [&](std::int64_t count, std::string_view what) {
    if (count > 0) ignored.push_back(fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"));
  };
  add(CountHostPorts(pod_spec), "host port");
  add(CountVolumeClaims(pod_spec), "volume claim");
  if (HasAny(pod_spec, "resourceClaims")) ignored.emplace_back("resource claims");
  return ignored;
}

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
    pod.priority = PriorityOf(*spec, context, defaults);
    pod.scheduling_gates = ReadList(*spec, "schedulingGates", context, [&](JsonValue gate) {
      return TextMember(gate, "name", context);
    });
    pod.requests = EffectiveRequests(*spec, context, defaults, nullptr);
  }
  return pod;
}

PodTemplate ReadPodSpec(JsonValue spec, const ReadContext& context, const ClusterDefaults& defaults,
                        std::string_view name_space, PodOrigin origin) {
  PodTemplate pod_template;
  pod_template.node_selector = TextMapMember(spec, "nodeSelector", context);
  pod_template.tolerations = ReadTolerations(spec, "tolerations", context);
  if (const auto affinity = ObjectMember(spec, "affinity", context)) {
    pod_template.affinity = ReadNodeAffinity(*affinity, context);
  }
  pod_template.ignored_constraints = IgnoredConstraints(spec);
  const NamespaceLimits* limits = defaults.LimitsOf(name_space);
  pod_template.requests = EffectiveRequests(spec, context, defaults, limits, origin);
  if (origin == PodOrigin::kWrapped) return pod_template;
  pod_template.device_backed = DeviceBackedRequests(spec, context, defaults, limits);
  pod_template.resource_claims = ReadList(spec, "resourceClaims", context, [&](JsonValue claim) {
    return PodResourceClaim{TextMember(claim, "resourceClaimName", context),
                            TextMember(claim, "resourceClaimTemplateName", context)};
  });
  return pod_template;
}

DaemonSet ReadDaemonSet(JsonValue object, const ReadContext& context,
                        const ClusterDefaults& defaults) {
  DaemonSet daemon_set;
  daemon_set.key = ReadObjectKey(object, context);
  const auto spec = ObjectMember(object, "spec", context);
  const auto pods = spec ? ObjectMember(*spec, "template", context) : std::nullopt;
  if (pods) {
    daemon_set.pod_template = ReadPodTemplate(*pods, context, defaults, daemon_set.key.namespace_);
  }
  return daemon_set;
}

PodTemplate ReadPodTemplate(JsonValue object, const ReadContext& context,
                            const ClusterDefaults& defaults, std::string_view name_space,
                            PodOrigin origin) {
  StringMap labels;
  StringMap annotations;
  if (const auto metadata = ObjectMember(object, "metadata", context)) {
    labels = TextMapMember(*metadata, "labels", context);
    annotations = TextMapMember(*metadata, "annotations", context);
  }
  const auto spec = ObjectMember(object, "spec", context);
  PodTemplate pod_template =
      spec ? ReadPodSpec(*spec, context, defaults, name_space, origin) : PodTemplate();
  pod_template.labels = std::move(labels);
  pod_template.annotations = std::move(annotations);
  return pod_template;
}

}  // namespace espalier
