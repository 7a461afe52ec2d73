#include "host/engine/feature_gates.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/model/excerpt.hpp"
#include "host/model/parse_bool.hpp"

namespace espalier {
namespace {

constexpr std::string_view kTopologyAwareScheduling = "TopologyAwareScheduling";
// Gates of the Configuration alone, which say what quota counts (R30.6, R30.7).
constexpr std::string_view kOfQuota[] = {
    "KueueDRAIntegration", "KueueDRAIntegrationExtendedResource",
    "KueueDRAIntegrationPartitionableDevices", "KueueDRARejectWorkloadsWhenDRADisabled",
    "QuotaCheckStrategy"};
constexpr std::string_view kElasticJobs = "ElasticJobsViaWorkloadSlices";

struct Gate {
  std::string_view name;
  bool FeatureGates::*value;
  std::array<std::string_view, 2> parents = {};  // on while this gate is on (R2.1)
};

// The gates in byte-wise order of their names.
constexpr std::array kGates = {
    Gate{kElasticJobs, &FeatureGates::elastic_jobs_via_workload_slices},
    Gate{"ElasticJobsViaWorkloadSlicesWithTAS",
         &FeatureGates::elastic_jobs_via_workload_slices_with_tas,
         {kTopologyAwareScheduling, kElasticJobs}},
    Gate{"RecomputeAssignmentUponPreemptionTargetsOverlap",
         &FeatureGates::recompute_assignment_upon_preemption_targets_overlap},
    Gate{"SkipReassignmentForPodOwnedWorkloads",
         &FeatureGates::skip_reassignment_for_pod_owned_workloads},
    Gate{"TASAssignmentsEncodingByHostnamePrefix",
         &FeatureGates::assignments_encoding_by_hostname_prefix},
    Gate{"TASBalancedPlacement", &FeatureGates::balanced_placement, {kTopologyAwareScheduling}},
    Gate{"TASCacheNodeMatchResults", &FeatureGates::cache_node_match_results},
    Gate{"TASCacheTopologyTree", &FeatureGates::cache_topology_tree},
    Gate{"TASCachingRemainingResources", &FeatureGates::caching_remaining_resources},
    Gate{"TASFailedNodeReplacement",
         &FeatureGates::failed_node_replacement,
         {kTopologyAwareScheduling}},
    Gate{"TASFailedNodeReplacementFailFast",
         &FeatureGates::failed_node_replacement_fail_fast,
         {kTopologyAwareScheduling}},
    Gate{"TASHandleOverlappingFlavors",
         &FeatureGates::handle_overlapping_flavors,
         {kTopologyAwareScheduling}},
    Gate{"TASMultiLayerTopology", &FeatureGates::multi_layer_topology, {kTopologyAwareScheduling}},
    Gate{"TASProfileMixed", &FeatureGates::profile_mixed, {kTopologyAwareScheduling}},
    Gate{"TASRecomputeAssignmentWithinSchedulingCycle",
         &FeatureGates::recompute_assignment_within_scheduling_cycle,
         {kTopologyAwareScheduling}},
    Gate{"TASReplaceNodeDueToNotReadyOverFixedTime",
         &FeatureGates::replace_node_due_to_not_ready_over_fixed_time,
         {kTopologyAwareScheduling}},
    Gate{"TASReplaceNodeOnNodeTaints",
         &FeatureGates::replace_node_on_node_taints,
         {kTopologyAwareScheduling}},
    Gate{"TASReplaceNodeOnPodTermination",
         &FeatureGates::replace_node_on_pod_termination,
         {kTopologyAwareScheduling}},
    Gate{"TASRespectNodeAffinityPreferred",
         &FeatureGates::respect_node_affinity_preferred,
         {kTopologyAwareScheduling}},
    Gate{"TASValidateWorkloadSliceSize", &FeatureGates::validate_workload_slice_size},
    Gate{kTopologyAwareScheduling, &FeatureGates::topology_aware_scheduling},
    Gate{"VectorizedResourceRequests", &FeatureGates::vectorized_resource_requests},
    Gate{"WorkloadValidateResourcesAreNonNegative",
         &FeatureGates::workload_validate_resources_are_non_negative},
};

const Gate* FindGate(std::string_view name) {
  const auto it = std::ranges::find(kGates, name, &Gate::name);
  return it == kGates.end() ? nullptr : &*it;
}

// Insertions, deletions and replacements that turn one text into the other.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Returns the known names closest to `name`; none when nothing comes near it.
std::vector<std::string_view> NearestGateNames(std::string_view name) {
  constexpr std::size_t kLongestName = 63;
  if (name.size() > kLongestName) return {};
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const Gate& gate : kGates) {
    const std::size_t distance = EditDistance(name, gate.name);
    if (distance <= gate.name.size() / 3) near.emplace_back(distance, gate.name);
  }
  std::ranges::sort(near);
  std::vector<std::string_view> names;
  for (const auto& [distance, known] : near) {
    if (distance == near.front().first) names.push_back(known);
  }
  return names;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

Result<void> SetFromText(FeatureGates& gates, std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    return BadInput(fmt::format("feature gate \"{}\" has no value; write {}=true", Excerpt(item),
                                Excerpt(item)));
  }
  const std::string_view name = Trim(item.substr(0, equals));
  const std::string_view text = Trim(item.substr(equals + 1));
  const std::optional<bool> value = ParseBool(text);
  if (!value) {
    return BadInput(
        fmt::format("feature gate {}: \"{}\" is not true or false", Excerpt(name), Excerpt(text)));
  }
  return SetFeatureGate(gates, name, *value);
}

}  // namespace

std::vector<std::string_view> FeatureGateNames() {
  std::vector<std::string_view> names;
  for (const Gate& gate : kGates) names.push_back(gate.name);
  return names;
}

Result<void> SetFeatureGate(FeatureGates& gates, std::string_view name, bool value) {
  if (const Gate* gate = FindGate(name)) {
    gates.*(gate->value) = value;
    return {};
  }
  const std::vector<std::string_view> nearest = NearestGateNames(name);
  if (nearest.empty()) {
    return BadInput(fmt::format("unknown feature gate \"{}\"; known are {}", Excerpt(name),
                                fmt::join(FeatureGateNames(), ", ")));
  }
  return BadInput(fmt::format("unknown feature gate \"{}\"; did you mean {}?", Excerpt(name),
                              fmt::join(nearest, " or ")));
}

std::vector<std::string> SetKnownFeatureGates(const std::map<std::string, bool>& values,
                                              FeatureGates& gates) {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : values) {
    if (std::ranges::find(kOfQuota, name) != std::end(kOfQuota)) continue;
    if (FindGate(name) != nullptr) {
      std::ignore = SetFeatureGate(gates, name, value);
      continue;
    }
    const std::vector<std::string_view> nearest = NearestGateNames(name);
    unknown.push_back(fmt::format(
        "feature gate {} is not known here, and not honoured{}", Excerpt(name),
        nearest.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(nearest, " or "))));
  }
  return unknown;
}

Result<void> CheckFeatureGateDependencies(const FeatureGates& gates) {
  for (const Gate& parent : kGates) {
    if (gates.*(parent.value)) continue;
    std::vector<std::string_view> children;
    for (const Gate& child : kGates) {
      const bool depends = std::ranges::count(child.parents, parent.name) > 0;
      if (depends && gates.*(child.value)) children.push_back(child.name);
    }
    if (children.empty()) continue;
    return BadInput(fmt::format("feature gate {} is off but required by {}; turn it on or them off",
                                parent.name, fmt::join(children, ", ")));
  }
  return {};
}

Result<FeatureGates> ParseFeatureGates(std::string_view text, FeatureGates gates) {
  while (!Trim(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = Trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (item.empty()) continue;
    if (auto set = SetFromText(gates, item); !set) return tl::unexpected(set.error());
  }
  if (auto checked = CheckFeatureGateDependencies(gates); !checked) {
    return tl::unexpected(checked.error());
  }
  return gates;
}

}  // namespace espalier
