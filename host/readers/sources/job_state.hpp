// Reads the state of pods from an object's status.
#pragma once

#include "host/gangs/gang_workload.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Sets on the workload whether its pods have ended or are running, as far as the status says.
void ReadJobState(JsonValue object, const SourceContext& context, GangWorkload& workload);

// Returns whether the job is told to have no pods.
bool IsSuspended(JsonValue object);

}  // namespace espalier
