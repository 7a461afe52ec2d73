// Reads which gang, and which part of it, pods belong to.
#pragma once

#include "host/gangs/gang_workload.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Reads the reference of a Pod or a PodTemplateSpec: spec.workload, spec.workloadRef,
// spec.schedulingGroup, KAI's annotation or Kueue's label of a pod group. More than one of the
// first three is an error.
PartReference ReadPartReference(JsonValue pod, const ReadContext& context);

// Reads the reference of a template of the object, unless one of them opts out (W4.5).
PartReference ReadTemplatePart(JsonValue pod_template, const ReadContext& context);

// Returns whether the object opts out of the Workload API for KAI.
bool IgnoresWorkloadApi(JsonValue object);

}  // namespace espalier
