// Usage of leaves, added up.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/packing/cluster_state.hpp"

namespace espalier {

// Returns usage without amounts of 0.
Resources WithoutZeros(const Resources& usage);

// Sums of usage by flavor and leaf.
class UsageByLeaf {
 public:
  // Adds usage (`sign` 1), or subtracts usage that was added (-1).
  void Add(const std::vector<FlavorLeafUsage>& usage, Amount sign);

  // Returns the sum on a leaf, or null when there is none.
  const Resources* Of(std::string_view flavor, std::string_view leaf) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Leaves = std::unordered_map<std::string, Resources, Hash, std::equal_to<>>;

  std::map<std::string, Leaves, std::less<>> flavors_;
};

}  // namespace espalier
