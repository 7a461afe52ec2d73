// Evaluates node filters, the leaves that a pod set's constraints admit, once per distinct filter.
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

// Constraints on nodes: the parts of a pod template that section 7 uses, after updates.
struct NodeConstraints {
  StringMap node_selector;
  std::vector<Toleration> tolerations;  // the template's, then the flavor's (R6.11)
  std::optional<std::vector<NodeSelectorTerm>> required_affinity;
  std::vector<PreferredSchedulingTerm> preferred_affinity;  // empty: scores are not wanted

  bool operator==(const NodeConstraints&) const = default;

  // Returns a text that is equal for equal constraints only.
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
// the required affinity (R7.2); the first that fails counts. `node_of_leaf` is the node of each
// leaf; a leaf with -1 has none, does not match and is not counted. The memory of the filter stays
// charged to `budget`; a filter whose budget was stopped is meaningless.
NodeFilter EvaluateFilter(const NodeConstraints& constraints, const NodeColumns& nodes,
                          std::span<const std::int32_t> node_of_leaf, const TreeView& tree,
                          WorkBudget& budget = WorkBudget::Unlimited());

// Updates a filter leaf by leaf when nodes change.
class FilterChanges {
 public:
  // Prepares to change `filter`, which was evaluated for the constraints on the leaves of the tree.
  // All three must outlive this.
  FilterChanges(const NodeConstraints& constraints, const TreeView& tree, NodeFilter& filter);

  // Replaces node `before` of a leaf by `after`; null: no node.
  void Change(std::int32_t leaf, const Node* before, const Node* after);
  // Ends the changes. `vacant`: whether any leaf has no node now.
  void Finish(bool vacant);

 private:
  enum class Verdict { kNobody, kMatches, kTaint, kSelector, kAffinity };
  Verdict Judge(const Node* node, const Taint*& taint) const;
  std::int64_t Score(const Node& node) const;
  void Count(Verdict verdict, const Taint* taint, std::int64_t nodes);
  void AddScore(std::int32_t leaf, std::int64_t score);

  const NodeConstraints& constraints_;
  const TreeView tree_;
  NodeFilter& filter_;
};

// Returns a bitmap with this many leaves, all of which are set.
std::vector<std::uint64_t> AllLeaves(std::size_t leaves);

}  // namespace espalier
