// Plans failed-node replacement (section 17), up to the job for the back end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/packing/flavor_snapshot.hpp"

namespace espalier {

// Pods of failed nodes, to be placed anew.
struct ReplacementPlan {
  PodSetRequest request;             // adjusted by R17.8; count = pods to place
  std::vector<LeafShare> remaining;  // what stays
  DomainRange domain;                // leaves allowed (R17.5)
};

// Returns the plan, or the failure text (R17.4). `existing` is the pod set's admitted
// assignment, `node` the one to replace.
tl::expected<ReplacementPlan, std::string> PlanReplacement(const PodSetRequest& pod_set,
                                                           const TopologyAssignment& existing,
                                                           std::string_view node,
                                                           const FlavorSnapshot& snapshot);

// Returns those of the nodes that an assignment has a domain on, each once. Points into `nodes`.
std::vector<std::string_view> NodesIn(const TopologyAssignment& existing,
                                      const std::vector<std::string>& nodes);

// Pods of a pod set on healthy nodes, and how many the failed ones held.
struct Damage {
  std::vector<LeafShare> remaining;
  Count lost = 0;
};

// Returns what an assignment has left without the nodes, or the failure text (R17.4).
tl::expected<Damage, std::string> TakeOut(const TopologyAssignment& existing,
                                          const std::vector<std::string_view>& nodes,
                                          const FlavorSnapshot& snapshot);

// Returns the next pods to place of a pod set that lost several nodes (profile espalier), or the
// failure text. First every domain that holds a part of a slice gets what makes it whole, the
// innermost layer first; then the whole slices that are missing stay in the domain that the pod set
// requires, if anything of it remains there. Pods that are placed are added to the damage's
// remaining ones before the next call. Requires lost pods.
tl::expected<ReplacementPlan, std::string> PlanJointReplacement(const PodSetRequest& pod_set,
                                                                const Damage& damage,
                                                                const FlavorSnapshot& snapshot,
                                                                const FeatureGates& gates);

}  // namespace espalier
