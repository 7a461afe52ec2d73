// Matches pod templates with a ResourceFlavor's own labels and taints (R20.9). Nodes are matched by
// the engine.
#pragma once

#include "host/model/topology.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Returns the first NoSchedule or NoExecute taint of the flavor that neither the pod nor the flavor
// itself tolerates, or null.
const Taint* UntoleratedFlavorTaint(const ResourceFlavor& flavor, const PodTemplate& pod);

// Returns whether the flavor's labels match the pod's node selector and required affinity, of which
// only label keys that the flavor sets are considered.
bool MatchesFlavorLabels(const ResourceFlavor& flavor, const PodTemplate& pod);

}  // namespace espalier
