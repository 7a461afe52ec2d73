// Keeps an input that changes as it was when somebody began to read it.
#pragma once

#include <cstddef>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/packing/cluster_state.hpp"

namespace espalier {

// The position of a reader in each list of an input, and the former values of what changed before
// the reader came to it. So it costs memory only for what changes meanwhile.
class InputAsOf {
 public:
  template <class Value>
  struct List {
    std::size_t next = 0;  // position of the next value
    std::size_t end = 0;   // of the list when the reading began
    std::unordered_map<std::size_t, Value> before;
  };

  explicit InputAsOf(const ClusterStateInput& input) {
    Of<Topology>().end = input.topologies.size();
    Of<ResourceFlavor>().end = input.flavors.size();
    Of<Node>().end = input.nodes.size();
    Of<NodeUsage>().end = input.non_tas_usage.size();
    Of<FlavorLeafUsage>().end = input.tas_usage.size();
  }

  template <class Value>
  List<Value>& Of() {
    return std::get<List<Value>>(lists_);
  }

  // Returns whether the value at a position is to be kept before it changes.
  template <class Value>
  bool Wants(std::size_t position) {
    const List<Value>& list = Of<Value>();
    return position >= list.next && position < list.end && !list.before.contains(position);
  }

 private:
  std::tuple<List<Topology>, List<ResourceFlavor>, List<Node>, List<NodeUsage>,
             List<FlavorLeafUsage>>
      lists_;
};

}  // namespace espalier
