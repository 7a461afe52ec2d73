// Checks the levels of topology requests against the topologies and each other.
#pragma once

#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/model/topology.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Requires, of several levels that a request names, the finest, whose domains lie in one of each
// other. Makes the workload wait, with the reason, where no topology has all of them.
void ResolveKeys(const std::vector<Topology>& topologies, GangWorkload& workload);

// Reports an inner required level that is above the required level of a group around it, by the
// order of levels in any of the topologies (W1.6).
void CheckLevels(const GangWorkload& workload, const std::vector<Topology>& topologies,
                 JsonValue object, const ReadContext& context);

}  // namespace espalier
