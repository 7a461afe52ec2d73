// Reads what a workload takes from the object of its job.
#pragma once

#include <vector>

#include "host/model/workload.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Reads name, uid, labels, annotations, creation time and the queue that a label of
// Kueue's names, or else one of KAI's.
Workload ReadWorkloadHead(JsonValue object, const ReadContext& context);

// Reads the priority: that of the WorkloadPriorityClass that the object's label names, or else of
// the first priority class that a PodTemplateSpec names.
void ReadJobPriority(JsonValue object, const std::vector<JsonValue>& templates,
                     const ReadContext& context, const ClusterDefaults& defaults,
                     Workload& workload);

}  // namespace espalier
