// Checks a nominated placement again right before admission (R21.3).
#pragma once

#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Returns whether the pods that the answer adds still fit. As in Kueue, pod slots are not checked,
// entries on one leaf are not added up, and pods without any request never fit.
bool FitsNow(const ClusterState& state, const WorkloadRequest& request,
             const WorkloadAnswer& answer);

}  // namespace espalier
