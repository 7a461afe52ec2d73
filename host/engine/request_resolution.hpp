// Request resolution (section 6): a pod set's words into the integers a decision needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/node_filter.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The slice constraints of a topology request, coarsest first (R6.1).
std::vector<SliceConstraint> SliceConstraints(const std::optional<TopologyRequest>& request);

// The requested level's key by R6.4, whether it exists or not.
std::optional<std::string> RequestedLevelKey(const PodSetRequest& pod_set,
                                             const FlavorSnapshot& snapshot);

// The failure text of R6.2, or the slice size.
tl::expected<Count, std::string> SliceSize(const std::vector<SliceConstraint>& constraints);

// A pod set resolved against a flavor. `query.pods` and `query.leaders` are the caller's to set.
struct ResolvedRequest {
  PlacementQuery query;
  NodeConstraints constraints;
};

// All checks of R6.6 in their order; the error is the failure text of R18.2 or R18.3.
tl::expected<ResolvedRequest, std::string> ResolveRequest(const PodSetRequest& workers,
                                                          const FlavorSnapshot& snapshot,
                                                          const FeatureGates& gates);

// The per-pod vector bound to the snapshot, with the pod slot added (R5.11).
RequestVector BindRequests(const Resources& requests, const FlavorSnapshot& snapshot);

// The interned shape of workers and optional leader (null: none). Meaningless, and not interned,
// once `budget` is stopped.
std::shared_ptr<const Shape> MakeShape(const ResolvedRequest& resolved,
                                       const PodSetRequest& workers, const PodSetRequest* leader,
                                       const FlavorSnapshot& snapshot,
                                       WorkBudget& budget = WorkBudget::Unlimited());

}  // namespace espalier
