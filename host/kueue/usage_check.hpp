// The check of a nominated placement right before admission (R21.3).
#pragma once

#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Whether the pods that the answer adds still fit, quirks included: pod slots are not looked at,
// entries on one leaf are not added up, and pods without any request never fit.
bool FitsNow(const ClusterState& state, const WorkloadRequest& request,
             const WorkloadAnswer& answer);

}  // namespace espalier
