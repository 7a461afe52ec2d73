// Checks the topology annotations of pod templates (R23.1 to R23.10).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "host/engine/feature_gates.hpp"
#include "host/model/flat_map.hpp"
#include "host/webhooks/violation.hpp"

namespace espalier {

// The part of one pod set that the rules look at.
struct PodSetToCheck {
  std::string annotations_path;       // as Kueue writes it: "spec.template.metadata.annotations"
  StringMap annotations;              // of its template
  std::optional<std::int64_t> count;  // pods; absent: they cannot be read
};

// Checks the annotations by themselves (R23.1 to R23.8).
void CheckTopologyAnnotations(const PodSetToCheck& pod_set, const FeatureGates& gates,
                              Violations& found);

// Checks that slices are not larger than the pod set (R23.6, R23.8).
void CheckSlicesFit(const PodSetToCheck& pod_set, const FeatureGates& gates, Violations& found);

// Checks the groups that pod sets of one workload name (R23.9).
void CheckPodSetGroups(std::span<const PodSetToCheck> pod_sets, Violations& found);

// Checks that the pod set of an elastic job asks for no level (R23.10).
void CheckElasticTopology(const PodSetToCheck& pod_set, Violations& found);

}  // namespace espalier
