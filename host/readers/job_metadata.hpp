// Reads what a workload takes from the object of its job.
#pragma once

#include <optional>
#include <vector>

#include "host/model/workload.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Reads name, uid, labels, annotations, creation time and the queue that a label of
// Kueue's names, or else one of KAI's.
Workload ReadWorkloadHead(JsonValue object, const ReadContext& context);

// Adds the labels that Kueue gives to an object that is yet to be made: a queue where the namespace
// has one named `default`, and a WorkloadPriorityClass of that name.
void ApplyKueueDefaults(JsonValue object, const ClusterDefaults& defaults, Workload& workload);
// Adds the same to a workload whose object is known to be yet to be made.
void AddDefaultLabels(const ClusterDefaults& defaults, Workload& workload);

// Reads the priority: that of the WorkloadPriorityClass that the workload's label names, or else of
// the priority class of the object's scheduling policy, or of the first that a PodTemplateSpec
// names.
void ReadJobPriority(JsonValue object, const std::vector<JsonValue>& templates,
                     const ReadContext& context, const ClusterDefaults& defaults,
                     Workload& workload);

// Reads what Kueue says of a workload whose pod sets have these templates, in order: whether its
// requests are valid (R21.14), what its webhook refuses, and whether annotations give no topology
// request.
void ReadTemplateErrors(const std::vector<std::optional<JsonValue>>& templates,
                        const ReadContext& context, const ClusterDefaults& defaults,
                        Workload& workload, PodOrigin origin = PodOrigin::kTemplate);

}  // namespace espalier
