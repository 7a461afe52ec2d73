// The rules that Kueue's webhooks and schemas hold its own objects to (section 23).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/model/cluster.hpp"
#include "host/webhooks/violation.hpp"

namespace espalier {

// Returns every violation in the cluster's topologies, flavors and workloads, in that order.
std::vector<Violation> ValidateCluster(const Cluster& cluster, const FeatureGates& gates);

std::vector<Violation> ValidateTopology(const Topology& topology);            // R23.15
std::vector<Violation> ValidateResourceFlavor(const ResourceFlavor& flavor);  // R23.16

// Checks a workload against R23.12 to R23.14, and its templates against R23.1 to R23.11 as the
// webhook of the workload's owner runs them. Requests are checked after they became effective per
// pod (R20.4).
std::vector<Violation> ValidateWorkload(const Workload& workload, const FeatureGates& gates);

// Returns the fields that changed between two versions of an object although they may not, in
// addition to the rules above.
std::vector<Violation> ValidateTopologyUpdate(const Topology& before, const Topology& after);
std::vector<Violation> ValidateResourceFlavorUpdate(const ResourceFlavor& before,
                                                    const ResourceFlavor& after);
std::vector<Violation> ValidateWorkloadUpdate(const Workload& before, const Workload& after);

// A job's kind decides which rules its webhook runs (R23.11).
struct TemplateRules {
  bool bounded_by_count = true;  // slices must not be larger than the pod set
  bool groups = true;            // R23.9
  bool operator==(const TemplateRules&) const = default;
};
TemplateRules TemplateRulesOf(std::string_view kind);  // `kind`: Job, JobSet, Pod, ...

// Checks the templates of a workload's pod sets against R23.1 to R23.10. `elastic`: it is an
// elastic job.
std::vector<Violation> ValidatePodTemplates(const std::string& object,
                                            std::span<const PodSet> pod_sets, bool elastic,
                                            const TemplateRules& which, const FeatureGates& gates);

}  // namespace espalier
