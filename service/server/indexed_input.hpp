// A ClusterStateInput in which nodes and usage are found by name, so that it can be changed.
#pragma once

#include <cstddef>
#include <optional>
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

  // Returns what takes the state before Apply returned `undo` to the one after; nothing where nodes
  // came, went, or changed in more than their amounts of resources that some node had before.
  std::optional<ClusterState::Change> ChangeFrom(const StateDelta& undo) const;

  // Returns about how many bytes of memory the input takes.
  std::int64_t bytes() const { return bytes_; }

  // Applies all of it or, on an error, nothing. Returns the change that takes it back. kBadInput
  // when it removes a node that is not there.
  Result<StateDelta> Apply(StateDelta delta);

  void AddTasUsage(const std::vector<FlavorLeafUsage>& usage);

 private:
  using Index = std::unordered_map<std::string, std::size_t>;
  template <class Value>
  class List;

  template <class Usage>
  void Add(std::vector<Usage>& usages, Index& index, Usage usage);

  ClusterStateInput input_;
  Index nodes_;          // positions in input_.nodes, by name
  Index non_tas_usage_;  // by node
  Index tas_usage_;      // by flavor and leaf
  std::int64_t bytes_ = 0;
};

}  // namespace espalier
