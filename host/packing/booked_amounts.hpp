// Usage that branches of a state have come to hold, by leaf: what was booked, told from the amounts
// alone.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "host/packing/cluster_state.hpp"
#include "kernels/views.hpp"

namespace espalier {

class FlavorSnapshot;

class BookedAmounts {
 public:
  // Adds the usage that `after`, a branch of `before`, has more. Takes time that grows with the
  // number of blocks in which the two differ.
  void Add(const ClusterState& before, const ClusterState& after);

  // Returns what was added on one leaf, and forgets it; empty where nothing was. `state` is any
  // branch of those that were given to Add.
  Resources Take(const ClusterState& state, std::string_view flavor, std::string_view leaf);
  // Returns what was added everywhere, and forgets it.
  std::vector<FlavorLeafUsage> TakeAll(const ClusterState& state);

  // Returns the bytes that this takes for the leaves of a state, at most.
  static std::int64_t MostBytes(const ClusterState& state);

 private:
  struct OfFlavor {
    std::vector<std::int32_t> place_of_leaf;  // -1: nothing was booked there
    std::vector<LeafId> leaves;               // by place
    std::vector<Amount> amounts;              // [place * resources + resource]
  };
  static Resources Take(const FlavorSnapshot& snapshot, OfFlavor& booked, std::int32_t place);

  std::vector<OfFlavor> flavors_;  // as ClusterState::FlavorNames
};

}  // namespace espalier
