// Reads how many pods of a job KAI starts together (W4.8).
#pragma once

#include "host/gangs/gang_workload.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Lets the annotation kai.scheduler/batch-min-member of a batch Job say how many of its pods have a
// place together or not at all. Kueue, which places all of them (`as_kueue`), and other kinds do
// not go by it, and a note says so.
void ApplyKaiMinMember(JsonValue job, bool as_kueue, GangWorkload& workload);

}  // namespace espalier
