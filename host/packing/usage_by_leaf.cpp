#include "host/packing/usage_by_leaf.hpp"

#include <algorithm>

namespace espalier {

Resources WithoutZeros(const Resources& usage) {
  if (std::ranges::find(usage.values(), Amount{0}) == usage.values().end()) return usage;
  Resources kept;
  for (const auto& [name, amount] : usage) {
    if (amount != 0) kept.Set(name, amount);
  }
  return kept;
}

void UsageByLeaf::Add(const std::vector<FlavorLeafUsage>& usage, Amount sign) {
  for (const FlavorLeafUsage& entry : usage) {
    Leaves& leaves = flavors_[entry.flavor];
    Resources& sum = leaves[entry.leaf];
    AddTo(sum, Times(entry.usage, sign));
    sum = WithoutZeros(sum);
    if (sum.empty()) leaves.erase(entry.leaf);
  }
}

const Resources* UsageByLeaf::Of(std::string_view flavor, std::string_view leaf) const {
  const auto leaves = flavors_.find(flavor);
  if (leaves == flavors_.end()) return nullptr;
  const auto found = leaves->second.find(leaf);
  return found == leaves->second.end() ? nullptr : &found->second;
}

}  // namespace espalier
