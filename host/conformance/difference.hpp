// Describes how an answer differs from the expected one.
#pragma once

#include <optional>
#include <string>

#include "host/conformance/case_file.hpp"

namespace espalier {

// All functions return nullopt when there is no difference, else some lines without a newline at
// the end.

// Compares with one expected answer; v1beta2 forms are compared as encoded under `gates`.
std::optional<std::string> Difference(const ExpectedAnswer& expected, const WorkloadAnswer& got,
                                      const FeatureGates& gates);
std::optional<std::string> Difference(const VictimsCase& expected, const PrefixAnswer& got,
                                      const FeatureGates& gates);
std::optional<std::string> Difference(const SequenceGang& expected, const WorkloadAnswer& got);
std::optional<std::string> Difference(const StringMap& expected,
                                      const std::vector<UngatedPod>& got);
std::optional<std::string> Difference(const TopologyAssignment& expected,
                                      const TopologyAssignment& got);
std::optional<std::string> Difference(const EncodedAssignment& expected,
                                      const EncodedAssignment& got);

}  // namespace espalier
