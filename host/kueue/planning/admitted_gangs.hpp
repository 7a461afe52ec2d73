// Finds what admitted workloads hold, and what they would ask for if they were placed anew.
#pragma once

#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "host/what_if/defragment.hpp"

namespace espalier {

// Returns the admitted workloads that hold something of a flavor with a topology: those with a
// request in queue order, as if all of them were pending, then the others in the cluster's order.
// Errors are those of PlanPlacement.
Result<std::vector<PlacedGang>> AdmittedGangs(const Cluster& cluster, const FeatureGates& gates);

}  // namespace espalier
