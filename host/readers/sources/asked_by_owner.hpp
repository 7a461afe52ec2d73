// Tells what jobs ask for that the Workloads which Kueue made of them do not say.
#pragma once

#include <span>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Adds to what is not honoured of a job, which `object` is, what its Workload is placed without: it
// has pod sets with flat requests alone.
void NoteWhatWorkloadsLack(JsonValue object, GangWorkload& job);

// Puts that into the Workloads of the jobs, in the place of what they say themselves, and the level
// of which Jobs of a JobSet have a domain to themselves.
void TellWorkloads(std::span<const GangWorkload> jobs, std::vector<Workload>& workloads);

}  // namespace espalier
