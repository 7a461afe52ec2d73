#include "host/readers/known_fields.hpp"

#include "host/readers/fields/cluster_fields.hpp"
#include "host/readers/fields/pod_fields.hpp"
#include "host/readers/fields/queue_fields.hpp"
#include "host/readers/fields/work_fields.hpp"
#include "host/readers/kueue_configuration.hpp"

namespace espalier {
namespace {

struct KnownKind {
  KnownFields fields;
  std::string_view versions;
};

constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta1 kueue.x-k8s.io/v1beta2";
constexpr std::string_view kKueueFromAlpha =
    "kueue.x-k8s.io/v1alpha1 kueue.x-k8s.io/v1beta1 kueue.x-k8s.io/v1beta2";

constexpr std::string_view kResource =
    "resource.k8s.io/v1 resource.k8s.io/v1beta2 resource.k8s.io/v1beta1 resource.k8s.io/v1alpha3";

KnownKind KnownKindOf(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kNode:
      return {fields::kNode, "v1"};
    case ObjectKind::kPod:
      return {fields::kPod, "v1"};
    case ObjectKind::kTopology:
      return {fields::kTopology, kKueueFromAlpha};
    case ObjectKind::kResourceFlavor:
      return {fields::kFlavor, kKueue};
    case ObjectKind::kClusterQueue:
      return {fields::kClusterQueue, kKueue};
    case ObjectKind::kLocalQueue:
      return {fields::kLocalQueue, kKueue};
    case ObjectKind::kAdmissionCheck:
      return {fields::kCheck, kKueue};
    case ObjectKind::kWorkloadPriorityClass:
      return {fields::kWorkloadPriorityClass, kKueue};
    case ObjectKind::kWorkload:
      return {fields::kWorkload, kKueue};
    case ObjectKind::kJob:
      return {fields::kJob, "batch/v1"};
    case ObjectKind::kNamespace:
      return {fields::kNamespace, "v1"};
    case ObjectKind::kDaemonSet:
      return {fields::kDaemonSet, "apps/v1"};
    case ObjectKind::kKaiTopology:
      return {fields::kTopology, "kai.scheduler/v1alpha1"};
    case ObjectKind::kKaiQueue:
      return {fields::kKaiQueue, "scheduling.run.ai/v2"};
    case ObjectKind::kHyperNode:  // its reader knows its fields, as does that of the next
      return {{}, "topology.volcano.sh/v1alpha1"};
    case ObjectKind::kVolcanoQueue:
      return {{}, "scheduling.volcano.sh/v1beta1"};
    case ObjectKind::kResourceClaim:
      return {fields::kClaim, kResource};
    case ObjectKind::kResourceClaimTemplate:
      return {fields::kClaimTemplate, kResource};
    case ObjectKind::kDeviceClass:
      return {fields::kDeviceClass, kResource};
    case ObjectKind::kConfigMap:
      return {fields::kConfigMap, "v1"};
    case ObjectKind::kKueueConfiguration:
      return {KnownConfigurationFields(),
              "config.kueue.x-k8s.io/v1beta2 config.kueue.x-k8s.io/v1beta1"};
    case ObjectKind::kRuntimeClass:
      return {fields::kRuntimeClass, "node.k8s.io/v1 node.k8s.io/v1beta1 node.k8s.io/v1alpha1"};
    case ObjectKind::kLimitRange:
      return {fields::kLimitRange, "v1"};
    case ObjectKind::kPriorityClass:
      return {fields::kPriorityClass,
              "scheduling.k8s.io/v1 scheduling.k8s.io/v1beta1 scheduling.k8s.io/v1alpha1"};
  }
  return {};
}

}  // namespace

KnownFields KnownFieldsOf(ObjectKind kind) { return KnownKindOf(kind).fields; }

KnownFields KnownTemplateFields() { return fields::kTemplate; }

std::string_view KnownVersionsOf(ObjectKind kind) { return KnownKindOf(kind).versions; }

}  // namespace espalier
