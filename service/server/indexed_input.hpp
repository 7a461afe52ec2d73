// A ClusterStateInput in which nodes and usage are found by name, so that it can be changed.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/packing/cluster_state.hpp"
#include "service/wire/cluster_state.hpp"

namespace espalier {

class IndexedInput {
 public:
  // Usage given in several parts is added up.
  explicit IndexedInput(ClusterStateInput input);

  const ClusterStateInput& input() const { return input_; }

  // All of it or, on an error, nothing. kBadInput when it removes a node that is not there.
  Result<void> Apply(StateDelta delta);

  void AddTasUsage(const std::vector<FlavorLeafUsage>& usage);

 private:
  using Index = std::unordered_map<std::string, std::size_t>;

  ClusterStateInput input_;
  Index nodes_;          // positions in input_.nodes, by name
  Index non_tas_usage_;  // by node
  Index tas_usage_;      // by flavor and leaf
};

}  // namespace espalier
