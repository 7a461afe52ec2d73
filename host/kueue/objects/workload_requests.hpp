// Turns a workload and its flavors into an engine request (R20.1 to R20.8).
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "host/engine/feature_gates.hpp"
#include "host/engine/nested_request.hpp"
#include "host/engine/request.hpp"
#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// The rules by which profile `espalier` asks otherwise than Kueue.
struct RequestRules {
  bool joint_replacement = false;                  // of all unhealthy nodes, not of the first alone
  bool previous_pods_first = false;                // as in WorkloadRequest
  NestedProfile trees = NestedProfile::kEspalier;  // by which workloads with a tree are placed
};

struct WorkloadRequestContext {
  const ClusterLookup& lookup;
  const FeatureGates& gates;
  const ClusterQueue* queue = nullptr;  // null: its queue is not known and counts as TAS-only
  WorkBudget& budget = WorkBudget::Unlimited();
  RequestRules rules;
};

// Returns the pod sets to place, in spec order; none when nothing requests a topology. Pod sets
// that hold an assignment without an unhealthy node are left out (R20.2). A workload with a tree
// gives a request with one. The error is the whole text for the user: "failed to assign flavors to
// pod set main: ..." (R20.3, R18.8).
tl::expected<WorkloadRequest, std::string> BuildWorkloadRequest(
    const Workload& workload, const FlavorAssignment& flavors,
    const WorkloadRequestContext& context);

// Returns the flavors of the workload's admission, as a second pass takes them (R21.9).
FlavorAssignment RecordedFlavors(const Workload& workload);

// Returns whether the workload belongs to a plain pod that is in no pod group (R17.2).
bool OwnedBySinglePod(const Workload& workload);

// Returns whether an admitted assignment of the workload holds an unhealthy node.
bool NeedsReplacement(const Workload& workload);

}  // namespace espalier
