#include "host/kueue/cycle_state.hpp"

#include <algorithm>
#include <iterator>

namespace espalier {

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
  state_.RemoveUsage(Spread(before_));
  state_.AddUsage(Spread(after_));
  added_.clear();
  before_.clear();
  after_.clear();
}

std::vector<FlavorLeafUsage> CycleState::Spread(const std::vector<FlavorLeafUsage>& usage) const {
  std::vector<FlavorLeafUsage> result;
  for (const FlavorLeafUsage& entry : usage) {
    if (std::ranges::find(shared_flavors_, entry.flavor) == shared_flavors_.end()) {
      result.push_back(entry);
      continue;
    }
    for (const std::string& flavor : shared_flavors_) {
      result.push_back({flavor, entry.leaf, entry.usage});
    }
  }
  return result;
}

}  // namespace espalier
