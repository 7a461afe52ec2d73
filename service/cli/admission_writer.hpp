// Kueue's form (v1beta2) of what a decision writes to a workload's status.
#pragma once

#include "host/engine/feature_gates.hpp"
#include "host/model/workload.hpp"
#include "service/cli/object_writer.hpp"

namespace espalier {

// The value of status.admission. The gates decide how assignments are encoded (R19.4).
void WriteAdmission(const Admission& admission, const FeatureGates& gates, ObjectWriter& out);

}  // namespace espalier
