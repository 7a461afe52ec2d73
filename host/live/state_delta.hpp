// Changes to the input of a cluster's state.
#pragma once

#include <string>
#include <vector>

#include "host/live/admitted_usage.hpp"
#include "host/live/hold.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Changes to a ClusterStateInput, applied in the order of the fields.
struct StateDelta {
  std::vector<std::string> remove_nodes;
  std::vector<Node> upsert_nodes;
  std::vector<NodeUsage> set_non_tas_usage;    // empty usage: forget it
  std::vector<FlavorLeafUsage> set_tas_usage;  // empty usage: forget it
  std::vector<std::string> remove_topologies;
  std::vector<Topology> upsert_topologies;
  std::vector<std::string> remove_flavors;
  std::vector<ResourceFlavor> upsert_flavors;
  std::vector<AdmittedUsage> set_workloads;  // each once; without usage: forget it
  std::vector<Hold> set_holds;               // each once; without usage: it ends

  bool operator==(const StateDelta&) const = default;

  bool ChangesFlavors() const {
    return !remove_topologies.empty() || !upsert_topologies.empty() || !remove_flavors.empty() ||
           !upsert_flavors.empty();
  }
};

}  // namespace espalier
