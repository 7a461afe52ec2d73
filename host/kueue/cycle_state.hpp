// The capacity that one scheduling cycle sees and changes.
#pragma once

#include <string>
#include <vector>

#include "host/packing/cluster_state.hpp"

namespace espalier {

// Inside a cycle bookings reach only the flavor they name; flavors that share its nodes learn of
// them when the next cycle starts (R5.7).
class CycleState {
 public:
  // `shared_flavors`: those whose usage counts on each other's nodes (R5.6); may be empty.
  CycleState(ClusterState state, std::vector<std::string> shared_flavors)
      : state_(std::move(state)), shared_flavors_(std::move(shared_flavors)) {}

  ClusterState& state() { return state_; }

  // For the rest of this cycle.
  void Add(const std::vector<FlavorLeafUsage>& usage);

  // From the next cycle on: `before` is gone and `after` is there.
  void Replace(std::vector<FlavorLeafUsage> before, std::vector<FlavorLeafUsage> after);

  void EndCycle();

 private:
  // Calls change(usage) with the same usage in every flavor that sees it; `usage` is spoilt.
  template <class Change>
  void ForEachSeeing(std::vector<FlavorLeafUsage>& usage, const Change& change) const;

  ClusterState state_;
  std::vector<std::string> shared_flavors_;
  std::vector<FlavorLeafUsage> added_;  // in this cycle, to be undone at its end
  std::vector<FlavorLeafUsage> before_;
  std::vector<FlavorLeafUsage> after_;
};

}  // namespace espalier
