// Feature gates as the wire carries them: a value per name.
#pragma once

#include <google/protobuf/map.h>

#include "host/engine/feature_gates.hpp"

namespace espalier {

using FeatureGateMap = google::protobuf::Map<std::string, bool>;

// `defaults` with the named gates set. kBadInput: an unknown name, or a gate whose parent is off.
Result<FeatureGates> ApplyFeatureGates(const FeatureGateMap& values, FeatureGates defaults);

// Every gate with its value, so that the answer does not depend on the receiver's defaults.
void WriteFeatureGates(const FeatureGates& gates, FeatureGateMap& values);

}  // namespace espalier
