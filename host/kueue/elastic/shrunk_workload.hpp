// Takes pods out of an elastic workload (W5.2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/elastic/slice_placement.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// Lowers the counts of the pod sets that have more pods than `counts`, which is in spec order: in
// the spec, the usage and the assignment of the workload, which has an admission. Returns the pods
// that leave: the last ones of an assignment in profile `kueue`, those of whole domains first in
// profile `espalier`.
std::vector<LeavingPods> ShrinkTo(std::span<const std::int64_t> counts, ResizeProfile profile,
                                  const ClusterLookup& lookup, const Cluster& cluster,
                                  LeafPaths& paths, Workload& workload);

}  // namespace espalier
