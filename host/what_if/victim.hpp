// Victims: workloads that may be removed so that others fit.
#pragma once

#include <string>
#include <vector>

#include "host/packing/cluster_state.hpp"

namespace espalier {

// A workload that may be removed, and the usage that is freed then.
struct Victim {
  std::string name;
  std::vector<FlavorLeafUsage> usage;  // leaves that do not exist are skipped (R5.5)
  bool operator==(const Victim&) const = default;
};

}  // namespace espalier
