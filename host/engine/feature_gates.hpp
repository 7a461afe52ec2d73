// Kueue's feature gates that change a decision (section 2 of the rules).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/model/result.hpp"

namespace espalier {

struct FeatureGates {
  bool topology_aware_scheduling = true;          // TopologyAwareScheduling
  bool profile_mixed = true;                      // TASProfileMixed (R9.6)
  bool balanced_placement = false;                // TASBalancedPlacement (section 14)
  bool respect_node_affinity_preferred = false;   // TASRespectNodeAffinityPreferred (R7.8)
  bool handle_overlapping_flavors = true;         // TASHandleOverlappingFlavors (R5.6, R15.3)
  bool multi_layer_topology = true;               // TASMultiLayerTopology (R20.11, R23.8)
  bool failed_node_replacement = true;            // TASFailedNodeReplacement
  bool failed_node_replacement_fail_fast = true;  // TASFailedNodeReplacementFailFast (R21.9)
  bool replace_node_on_pod_termination = true;    // TASReplaceNodeOnPodTermination (R17.13)
  bool replace_node_on_node_taints = true;        // TASReplaceNodeOnNodeTaints (R17.13)
  bool replace_node_due_to_not_ready_over_fixed_time = false;
  bool skip_reassignment_for_pod_owned_workloads = true;     // R17.2
  bool assignments_encoding_by_hostname_prefix = true;       // R19.4
  bool recompute_assignment_within_scheduling_cycle = true;  // R21.7
  bool recompute_assignment_upon_preemption_targets_overlap = true;
  bool cache_node_match_results = true;                      // R7.9
  bool caching_remaining_resources = true;                   // performance only upstream
  bool cache_topology_tree = true;                           // performance only upstream
  bool vectorized_resource_requests = true;                  // performance only upstream
  bool validate_workload_slice_size = true;                  // R23.12
  bool workload_validate_resources_are_non_negative = true;  // R23.13
  bool elastic_jobs_via_workload_slices = true;
  bool elastic_jobs_via_workload_slices_with_tas = false;  // section 16

  bool operator==(const FeatureGates&) const = default;
};

// Returns every known gate name, in byte-wise order.
std::vector<std::string_view> FeatureGateNames();

// Sets one gate by its Kueue name. Errors (kBadInput): an unknown name; the message has the nearest
// known ones.
Result<void> SetFeatureGate(FeatureGates& gates, std::string_view name, bool value);

// Sets the known ones of the gates that Kueue's Configuration names. Returns a text for each of the
// others, with the nearest known names.
std::vector<std::string> SetKnownFeatureGates(const std::map<std::string, bool>& values,
                                              FeatureGates& gates);

// Checks that no gate is on whose parent is off, which is a configuration error (R2.1).
Result<void> CheckFeatureGateDependencies(const FeatureGates& gates);

// Reads gates such as "Name=true,Other=false", as on Kueue's own command line, and checks
// dependencies. Gates that the text does not name are those of `defaults`.
Result<FeatureGates> ParseFeatureGates(std::string_view text, FeatureGates defaults = {});

}  // namespace espalier
