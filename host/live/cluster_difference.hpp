// The change from one cluster of files to another.
#pragma once

#include "host/engine/feature_gates.hpp"
#include "host/live/proposed_change.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// Returns what makes a state with `before` one with `after`: nodes, topologies and flavors that
// come, change or go, the usage of pods that is more or less, and admitted workloads that a state
// can know by key. Usage that it cannot know by key (TakeUsageByKey) is left out.
ProposedChange ChangeBetween(const Cluster& before, const Cluster& after,
                             const FeatureGates& gates);

}  // namespace espalier
