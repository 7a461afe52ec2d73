// The capacity that one scheduling cycle sees and changes.
#pragma once

#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Returns the flavors whose usage counts on each other's nodes: those with a topology down to
// hosts, or none where the gate is off (R5.6).
std::vector<std::string> SharedFlavors(const Cluster& cluster, const ClusterLookup& lookup,
                                       const FeatureGates& gates);

// A state that a cycle books into. Inside a cycle bookings reach only the flavor they name; flavors
// that share its nodes learn of them when the next cycle starts (R5.7).
class CycleState {
 public:
  // Takes the state over. `shared_flavors`: those whose usage counts on each other's nodes (R5.6);
  // may be empty.
  CycleState(ClusterState state, std::vector<std::string> shared_flavors)
      : state_(std::move(state)), shared_flavors_(std::move(shared_flavors)) {}

  ClusterState& state() { return state_; }

  // Books usage for the rest of this cycle.
  void Add(const std::vector<FlavorLeafUsage>& usage);

  // Replaces the usage `before` by `after` from the next cycle on.
  void Replace(std::vector<FlavorLeafUsage> before, std::vector<FlavorLeafUsage> after);

  void EndCycle();

 private:
  // Calls change(usage) with the same usage in every flavor that sees it; leaves `usage` in an
  // unspecified state.
  template <class Change>
  void ForEachSeeing(std::vector<FlavorLeafUsage>& usage, const Change& change) const;

  ClusterState state_;
  std::vector<std::string> shared_flavors_;
  std::vector<FlavorLeafUsage> added_;  // booked in this cycle, undone at its end
  std::vector<FlavorLeafUsage> before_;
  std::vector<FlavorLeafUsage> after_;
};

}  // namespace espalier
