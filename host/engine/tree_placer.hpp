// The interface by which the engine has trees placed (section 25).
#pragma once

#include <span>
#include <vector>

#include "host/engine/request.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

class TreePlacer {
 public:
  virtual ~TreePlacer() = default;

  // Answers requests that have a tree, in order, on `state`. Where `booked` is not null it is the
  // same state, and each placement is booked there before the next request is answered. Once the
  // budget is stopped, the remaining answers are missing. Several threads may call it at once.
  virtual std::vector<WorkloadAnswer> Place(std::span<const WorkloadRequest* const> requests,
                                            const ClusterState& state, ClusterState* booked,
                                            WorkBudget& budget) = 0;
};

}  // namespace espalier
