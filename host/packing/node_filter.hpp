// Node filters: which leaves a pod set's constraints admit, evaluated once per distinct filter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/model/flat_map.hpp"
#include "host/model/node.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/node_columns.hpp"
#include "kernels/views.hpp"

namespace espalier {

// What is asked of nodes: the parts of a pod template that section 7 looks at, after updates.
struct NodeConstraints {
  StringMap node_selector;
  std::vector<Toleration> tolerations;  // the template's, then the flavor's (R6.11)
  std::optional<std::vector<NodeSelectorTerm>> required_affinity;
  std::vector<PreferredSchedulingTerm> preferred_affinity;  // empty: scores are not wanted

  bool operator==(const NodeConstraints&) const = default;

  // A text that is equal for equal constraints only.
  std::string Key() const;
};

// The verdict on every leaf of one flavor. Filters apply to host topologies only (R7.1).
struct NodeFilter {
  std::vector<std::uint64_t> matches;  // bitmap over leaves; empty: every leaf matches
  std::vector<std::int64_t> affinity;  // score per domain, rolled up (R7.8, R8.2); empty: all 0
  std::int64_t node_selector = 0;      // leaves excluded, by the first filter that fails (R7.2)
  std::int64_t required_affinity = 0;
  FlatMap<std::int64_t> taints;  // by taint text

  // Returns the bytes of memory that it takes.
  std::int64_t Bytes() const;
};

// Evaluates constraints on every leaf of a host topology: the taints, then the node selector, then
// the required affinity (R7.2); the first that fails counts. `node_of_leaf` names the node that
// stands for each leaf. What the filter takes stays charged to `budget`; a filter whose budget was
// stopped says nothing.
NodeFilter EvaluateFilter(const NodeConstraints& constraints, const NodeColumns& nodes,
                          std::span<const std::int32_t> node_of_leaf, const TreeView& tree,
                          WorkBudget& budget = WorkBudget::Unlimited());

}  // namespace espalier
