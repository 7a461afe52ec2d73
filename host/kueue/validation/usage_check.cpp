#include "host/kueue/validation/usage_check.hpp"

#include <algorithm>

#include "host/engine/booked_usage.hpp"
#include "host/engine/engine.hpp"
#include "host/packing/flavor_state.hpp"
#include "kernels/decisions/fits.hpp"

namespace espalier {
namespace {

Amount RemainingOn(const FlavorState& flavor, LeafId leaf, std::string_view resource) {
  const FlavorSnapshot& snapshot = flavor.snapshot();
  const std::int32_t column = snapshot.FindResource(resource);
  if (column < 0) return 0;
  return flavor.remaining()[static_cast<std::size_t>(column * snapshot.stride() + leaf.value)];
}

bool Holds(const ClusterState& state, const AddedPods& pods) {
  const FlavorState* flavor = state.Find(pods.pod_set->flavor);
  if (flavor == nullptr || pods.pod_set->requests.empty()) return false;
  const LeafId leaf = flavor->snapshot().FindLeaf(pods.leaf);
  if (!leaf.valid()) return false;
  return std::ranges::all_of(pods.pod_set->requests, [&](const auto& request) {
    const auto& [resource, amount] = request;
    return FitOne(amount, RemainingOn(*flavor, leaf, resource)) >= pods.count;
  });
}

}  // namespace

bool FitsNow(const ClusterState& state, const WorkloadRequest& request,
             const WorkloadAnswer& answer) {
  const std::vector<AddedPods> added = PodsAdded(request, answer);
  return std::ranges::all_of(added, [&](const AddedPods& pods) { return Holds(state, pods); });
}

}  // namespace espalier
