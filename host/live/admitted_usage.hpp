// The usage of one admitted workload.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/model/workload.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

struct AdmittedUsage {
  ObjectKey key;
  std::int32_t priority = 0;
  std::int64_t quota_reserved_seconds = 0;  // Unix seconds; 0: not known
  // One entry per leaf, ordered by flavor and leaf, amounts above 0; empty: the workload is no
  // longer admitted.
  std::vector<FlavorLeafUsage> usage;
  // The name of the first workload of the chain, for a slice of an elastic job. Empty: its own
  // name.
  std::string job;
  bool operator==(const AdmittedUsage&) const = default;
};

// Maximum usage of one resource on one leaf by a workload, so that sums stay exact.
constexpr Amount kMostAdmitted = Amount{1} << 53;

}  // namespace espalier
