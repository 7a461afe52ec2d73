// Reads which gang, and which part of it, pods belong to.
#pragma once

#include <string_view>

#include "host/gangs/gang_workload.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

inline constexpr std::string_view kKueuePodGroupName = "kueue.x-k8s.io/pod-group-name";

// The name of Kueue's group that a pod is in; empty: it is in none.
struct KueueGroupName {
  std::string_view name;
  bool in_annotation;  // where long names are, and not in the label
};

// Returns the group of Kueue's that the pod names; its annotation goes before its label.
KueueGroupName KueueGroupOf(JsonValue pod);

// Reads the reference of a Pod or a PodTemplateSpec: spec.workload, spec.workloadRef,
// spec.schedulingGroup, KAI's annotation or the name of Kueue's pod group. More than one of the
// first three is an error.
PartReference ReadPartReference(JsonValue pod, const ReadContext& context);

// Reads the reference of a template of the object, unless one of them opts out (W4.5).
PartReference ReadTemplatePart(JsonValue pod_template, const ReadContext& context);

// Returns whether the object opts out of the Workload API for KAI.
bool IgnoresWorkloadApi(JsonValue object);

}  // namespace espalier
