// The v1beta2 form of a topology assignment, as Kueue stores it in a Workload's status (section
// 19).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/model/result.hpp"
#include "host/model/topology.hpp"

namespace espalier {

// Values of one level that differ between domains: that of domain i is prefix + roots[i] + suffix.
struct IndividualValues {
  std::string prefix;
  std::string suffix;
  std::vector<std::string> roots;
  bool operator==(const IndividualValues&) const = default;
};

// One value that all domains of a slice share, or a value for each.
using EncodedValues = std::variant<std::string, IndividualValues>;
using EncodedPodCounts = std::variant<std::int32_t, std::vector<std::int32_t>>;

// A run of domains in the assignment's order.
struct EncodedSlice {
  std::int32_t domain_count = 0;
  std::vector<EncodedValues> values_per_level;  // one per level
  EncodedPodCounts pod_counts = std::int32_t{0};
  bool operator==(const EncodedSlice&) const = default;
};

struct EncodedAssignment {
  std::vector<std::string> levels;
  std::vector<EncodedSlice> slices;
  bool operator==(const EncodedAssignment&) const = default;
};

// Returns the encoded form of an assignment; the order of its domains is kept. Every domain has one
// value per level. The gate TASAssignmentsEncodingByHostnamePrefix decides whether several slices
// may be used (R19.4).
EncodedAssignment EncodeAssignment(const TopologyAssignment& assignment, const FeatureGates& gates);

// Returns the assignment that EncodeAssignment encodes so. Errors (kBadInput): a limit of the API
// is broken (R19.9), or the slices hold more than a million domains; the message names the field.
Result<TopologyAssignment> DecodeAssignment(const EncodedAssignment& encoded);

// Returns compact JSON with Kueue's member names; absent members are left out (R19.8).
std::string ToJson(const EncodedAssignment& encoded);

}  // namespace espalier
