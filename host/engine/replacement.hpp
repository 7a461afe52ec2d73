// Failed-node replacement (section 17), up to the question asked of the back end.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/packing/flavor_snapshot.hpp"

namespace espalier {

// The pods of a failed node, to be placed anew.
struct ReplacementPlan {
  PodSetRequest request;             // adjusted by R17.8; count = pods of the failed node
  std::vector<LeafShare> remaining;  // what stays
  DomainRange domain;                // leaves allowed (R17.5)
};

// The plan, or the failure text (R17.4). `existing` is the pod set's admitted assignment, `node`
// the first unhealthy node.
tl::expected<ReplacementPlan, std::string> PlanReplacement(const PodSetRequest& pod_set,
                                                           const TopologyAssignment& existing,
                                                           const std::string& node,
                                                           const FlavorSnapshot& snapshot);

}  // namespace espalier
