// Collects usage that was booked on branches of a state, by leaf, as the difference of their
// amounts.
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
  // Adds the usage that `after`, a branch of `before`, has in addition. Takes time that grows with
  // the number of groups in which the two differ.
  void Add(const ClusterState& before, const ClusterState& after);

  // Returns what was added on one leaf and clears it; empty when nothing was. `state` is any branch
  // of those that were given to Add.
  Resources Take(const ClusterState& state, std::string_view flavor, std::string_view leaf);
  // Returns what was added on all leaves and clears it.
  std::vector<FlavorLeafUsage> TakeAll(const ClusterState& state);

  // Returns the maximum bytes that this takes for the leaves of a state.
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
