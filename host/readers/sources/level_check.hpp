// Checks that inner topology requests are within the outer ones.
#pragma once

#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/model/topology.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// Reports an inner required level that is above the required level of a group around it, by the
// order of levels in any of the topologies (W1.6).
void CheckLevels(const GangWorkload& workload, const std::vector<Topology>& topologies,
                 JsonValue object, const ReadContext& context);

}  // namespace espalier
