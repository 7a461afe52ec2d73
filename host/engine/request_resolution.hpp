// Resolves a pod set's request into the integers that a decision needs (section 6).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/engine/backend.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/node_filter.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Returns the slice constraints of a topology request, coarsest first (R6.1).
std::vector<SliceConstraint> SliceConstraints(const std::optional<TopologyRequest>& request);

// Returns the requested level's key by R6.4, whether it exists or not.
std::optional<std::string> RequestedLevelKey(const PodSetRequest& pod_set,
                                             const FlavorSnapshot& snapshot);

// Returns the slice size, or the failure text of R6.2.
tl::expected<Count, std::string> SliceSize(const std::vector<SliceConstraint>& constraints);

// A pod set resolved against a flavor. The caller sets `query.pods` and `query.leaders`.
struct ResolvedRequest {
  PlacementQuery query;
  NodeConstraints constraints;
};

// Makes all checks of R6.6 in their order; the error is the failure text of R18.2 or R18.3.
tl::expected<ResolvedRequest, std::string> ResolveRequest(const PodSetRequest& workers,
                                                          const FlavorSnapshot& snapshot,
                                                          const FeatureGates& gates);

// Returns the per-pod vector bound to the snapshot, with the pod slot added (R5.11).
RequestVector BindRequests(const Resources& requests, const FlavorSnapshot& snapshot);

// Returns the interned shape of workers and an optional leader (null: none). Meaningless, and not
// interned, once `budget` is stopped.
std::shared_ptr<const PodShape> MakeShape(ResolvedRequest resolved, const PodSetRequest& workers,
                                          const PodSetRequest* leader,
                                          const FlavorSnapshot& snapshot,
                                          WorkBudget& budget = WorkBudget::Unlimited());

// Workers and an optional leader as integers: what equal gangs have in common. Valid for the state
// and the feature gates that it was made with, and for all branches of that state, whatever was
// changed there.
struct PlacementTemplate {
  PlacementQuery query;  // without pods
  std::shared_ptr<const PodShape> shape;
};

// Resolves workers and a leader, which is one pod (R6.9) or null: none. The error is that of
// ResolveRequest. The result is meaningless once `budget` is stopped.
tl::expected<PlacementTemplate, std::string> MakePlacementTemplate(
    const PodSetRequest& workers, const PodSetRequest* leader, const FlavorSnapshot& snapshot,
    const FeatureGates& gates, WorkBudget& budget = WorkBudget::Unlimited());

// Returns the job that places a shape with `pods` workers anywhere on its flavor. `filter` is the
// FilterOf the shape in the state's snapshot.
PlacementJob MakeJob(const PlacementTemplate& resolved, const FlavorState& state,
                     std::shared_ptr<const NodeFilter> filter, Count pods,
                     WorkBudget& budget = WorkBudget::Unlimited());

}  // namespace espalier
