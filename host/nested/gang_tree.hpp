// Turns the canonical model of a gang workload into the tree that is placed.
#pragma once

#include <span>
#include <string>

#include "host/engine/nested_request.hpp"
#include "host/engine/request.hpp"
#include "host/gangs/gang_workload.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Returns the tree of a workload on the flavor of `planned`, which is the request made of its
// TreeUnit; the tree's shapes are those of its pod sets, in order. `levels` are those of the
// flavor's topology, outermost first: slices at or above a level that is required inside of them
// hold without being asked for. Not required are pods above a gang's minimum, replicas that are
// gangs of their own, and gangs that start one after the other. Errors (kBadInput), whose messages
// do not name the workload: pod sets on several flavors, or on none that has a topology; slices of
// no pods.
Result<NestedRequest> TreeOf(const GangWorkload& workload, const WorkloadRequest& planned,
                             std::span<const std::string> levels);

}  // namespace espalier
