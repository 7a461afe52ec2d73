// Writes what a decision writes to a workload's status, in Kueue's form (v1beta2).
#pragma once

#include "host/engine/feature_gates.hpp"
#include "host/model/workload.hpp"
#include "service/cli/reports/object_writer.hpp"

namespace espalier {

// Writes the value of status.admission. The gates decide how assignments are encoded (R19.4).
void WriteAdmission(const Admission& admission, const FeatureGates& gates, ObjectWriter& out);

// Writes the value of a topologyAssignment, encoded in the same way.
void WriteTopologyAssignment(const TopologyAssignment& assignment, const FeatureGates& gates,
                             ObjectWriter& out);

}  // namespace espalier
