// Converts feature gates, which the wire carries as a value per name.
#pragma once

#include <google/protobuf/map.h>

#include "host/engine/feature_gates.hpp"

namespace espalier {

using FeatureGateMap = google::protobuf::Map<std::string, bool>;

// Returns `defaults` with the named gates set. Errors (kBadInput): an unknown name, or a gate whose
// parent is off.
Result<FeatureGates> ApplyFeatureGates(const FeatureGateMap& values, FeatureGates defaults);

// Returns the gates of a resize: `defaults` with ElasticJobsViaWorkloadSlicesWithTAS on, unless
// `values` names that gate.
FeatureGates ResizeDefaults(const FeatureGateMap& values, const FeatureGates& defaults);

// Writes every gate with its value, so that the answer does not depend on the receiver's defaults.
void WriteFeatureGates(const FeatureGates& gates, FeatureGateMap& values);

}  // namespace espalier
