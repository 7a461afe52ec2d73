#include "host/kueue/cycle/cycle_state.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>

namespace espalier {

std::vector<std::string> SharedFlavors(const Cluster& cluster, const ClusterLookup& lookup,
                                       const FeatureGates& gates) {
  std::vector<std::string> shared;
  if (!gates.handle_overlapping_flavors) return shared;
  for (const ResourceFlavor& flavor : cluster.flavors) {
    const Topology* topology = lookup.TopologyOf(flavor);
    if (topology != nullptr && topology->levels.back() == kHostnameLabel) {
      shared.push_back(flavor.name);
    }
  }
  return shared;
}

void CycleState::Add(const std::vector<FlavorLeafUsage>& usage) {
  state_.AddUsage(usage);
  std::ranges::copy(usage, std::back_inserter(added_));
}

void CycleState::Replace(std::vector<FlavorLeafUsage> before, std::vector<FlavorLeafUsage> after) {
  std::ranges::move(before, std::back_inserter(before_));
  std::ranges::move(after, std::back_inserter(after_));
}

void CycleState::EndCycle() {
  state_.RemoveUsage(added_);
  ForEachSeeing(before_, [this](const auto& usage) { state_.RemoveUsage(usage); });
  ForEachSeeing(after_, [this](const auto& usage) { state_.AddUsage(usage); });
  added_.clear();
  before_.clear();
  after_.clear();
}

template <class Change>
void CycleState::ForEachSeeing(std::vector<FlavorLeafUsage>& usage, const Change& change) const {
  const std::unordered_set<std::string_view> shared(shared_flavors_.begin(), shared_flavors_.end());
  const auto others = std::stable_partition(
      usage.begin(), usage.end(),
      [&](const FlavorLeafUsage& entry) { return shared.contains(entry.flavor); });
  change(std::vector<FlavorLeafUsage>(std::make_move_iterator(others),
                                      std::make_move_iterator(usage.end())));
  usage.erase(others, usage.end());
  for (const std::string& flavor : shared_flavors_) {
    for (FlavorLeafUsage& entry : usage) entry.flavor = flavor;
    change(usage);
  }
}

}  // namespace espalier
