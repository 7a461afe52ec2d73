// A request and the state that it is answered on.
#pragma once

#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// A workload and the state that its request is answered on; both must outlive it.
struct RequestOnState {
  const WorkloadRequest* request = nullptr;
  const ClusterState* state = nullptr;
};

}  // namespace espalier
