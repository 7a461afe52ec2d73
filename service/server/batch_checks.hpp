// Reads and checks what every call with a batch of workloads has beside the workloads.
#pragma once

#include <vector>

#include "espalier/v1/placement.pb.h"
#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"
#include "service/wire/answers.hpp"

namespace espalier {

// Returns the function that finds the indices of domains in answers on `state`, which must outlive
// it; an empty one when domains are named by their values.
Result<LeafIndex> ReadNaming(v1::DomainNaming naming, const ClusterState& state);

// Checks that the state has the flavor of every pod set. Errors (kNotFound) give the position of
// the pod set, counted over all workloads.
Result<void> CheckFlavors(const std::vector<WorkloadRequest>& workloads, const ClusterState& state);

// Returns a request's mode. Errors: kBadInput for an unknown one.
Result<PlacementMode> ReadMode(v1::PlacementMode mode);

}  // namespace espalier
