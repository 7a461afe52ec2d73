// Whether a pod template goes with a ResourceFlavor's own labels and taints (R20.9). Nodes are
// judged elsewhere, by the engine.
#pragma once

#include "host/model/topology.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// The first NoSchedule or NoExecute taint of the flavor that neither the pod nor the flavor
// itself tolerates, or null.
const Taint* UntoleratedFlavorTaint(const ResourceFlavor& flavor, const PodTemplate& pod);

// Node selector and required affinity, restricted to label keys that the flavor sets.
bool MatchesFlavorLabels(const ResourceFlavor& flavor, const PodTemplate& pod);

}  // namespace espalier
