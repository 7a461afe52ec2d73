// Slices of elastic jobs: workloads that take over from one another as their job is resized.
#pragma once

#include <string_view>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/kueue_keys.hpp"

namespace espalier {

inline constexpr std::string_view kSliceReplacementFor =
    "kueue.x-k8s.io/workload-slice-replacement-for";

// Returns whether the workload's job may be resized while it runs: whether it carries the
// annotation `kueue.x-k8s.io/elastic-job: "true"` (W5.1).
bool IsElasticJob(const Workload& workload);

// Returns the slice that ends when `workload` is admitted, or null when it replaces none: the
// workload that its annotation names as `NAMESPACE/NAME`, in the same namespace and with quota
// reserved in `queue` (R21.13). With a null `queue`, in any ClusterQueue.
const Workload* ReplacedSlice(const Workload& workload, const ClusterLookup& lookup,
                              const ClusterQueue* queue, const FeatureGates& gates);

// Replaces the workload with the same key, or appends `workload` when there is none.
void PutWorkload(const Workload& workload, std::vector<Workload>& workloads);

}  // namespace espalier
