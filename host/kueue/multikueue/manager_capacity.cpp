#include "host/kueue/multikueue/manager_capacity.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"

namespace espalier {

Result<ClusterState> ManagerCapacity::Copy(Cluster& manager) {
  if (!state_) {
    auto built = BuildState(manager, engine_.gates(), engine_.budget());
    if (!built) return tl::unexpected(built.error());
    const ClusterLookup lookup(manager);
    state_.emplace(*std::move(built), SharedFlavors(manager, lookup, engine_.gates()));
  }
  return state_->state().Branch(engine_.budget());
}

void ManagerCapacity::Follow(const Workload& after, const Cluster& manager) {
  if (!state_) return;
  const ClusterLookup lookup(manager);
  const auto before = std::ranges::find(manager.workloads, after.key, &Workload::key);
  std::vector<FlavorLeafUsage> used;
  if (before != manager.workloads.end()) used = TasUsage(*before, lookup);
  state_->Replace(std::move(used), TasUsage(after, lookup));
  state_->EndCycle();
}

}  // namespace espalier
