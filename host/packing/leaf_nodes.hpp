// The nodes on the leaves of a flavor. Nodes are added, removed and changed one by one after the
// cluster was packed; this is kept as a difference from the columns it was packed from.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/model/node.hpp"
#include "host/packing/flavor_tree.hpp"
#include "host/packing/node_columns.hpp"
#include "host/packing/node_filter.hpp"

namespace espalier {

// The nodes on the leaves of a flavor. Immutable: a change makes a new object that shares what is
// large. A leaf without a node is vacant: it keeps its place among the others, no pod may use it,
// and no answer names it.
class LeafNodes {
 public:
  // Maximum number of leaves that differ from the columns; with more, building anew is cheaper.
  static constexpr std::size_t kMostChanged = 2048;

  // Takes, by leaf, the node that represents it (R4.4) and the number of its nodes; `counts` is
  // empty when each leaf has one.
  LeafNodes(std::shared_ptr<const NodeColumns> columns, std::vector<std::int32_t> node_of,
            std::vector<std::int32_t> counts);

  // The nodes of a leaf after a change.
  struct Change {
    LeafId leaf;
    std::int32_t nodes = 0;            // how many; 0: the leaf is vacant
    std::shared_ptr<const Node> node;  // where it is one
  };
  // Returns the nodes after some changes, of which no two are of one leaf.
  std::shared_ptr<const LeafNodes> With(std::vector<Change> changes) const;
  // Returns the nodes on the leaves of a tree that was made by FlavorTree::Edit. Leaves that have
  // joined are vacant.
  std::shared_ptr<const LeafNodes> Moved(const FlavorTree::Edited& edited) const;

  std::int32_t CountOn(LeafId leaf) const;
  // Returns the nodes on all leaves together.
  std::int64_t node_count() const { return node_count_; }
  // Returns whether this many more changes would exceed kMostChanged.
  bool IsFull(std::size_t changes) const { return changed_.size() + changes > kMostChanged; }

  bool IsVacant(LeafId leaf) const;
  std::span<const std::int32_t> vacant() const { return vacant_; }  // ascending
  // Returns a filter that all leaves but vacant ones pass; null: no leaf is vacant.
  const std::shared_ptr<const NodeFilter>& occupied() const { return occupied_; }

  // Evaluates constraints on every leaf of a host topology.
  NodeFilter Evaluate(const NodeConstraints& constraints, const TreeView& tree,
                      WorkBudget& budget) const;
  // Returns whether both differ from the same columns with leaves in the same places, as Follow
  // requires.
  bool IsLike(const LeafNodes& other) const { return node_of_ == other.node_of_; }
  // Updates a filter that Evaluate made of `before` to what it would make of these nodes.
  void Follow(const LeafNodes& before, const NodeConstraints& constraints, const TreeView& tree,
              NodeFilter& filter) const;

  // Converts a filter without scores from the leaves before the tree was edited, of which these
  // nodes were Moved, to the leaves of the edited tree.
  void MoveMatches(const FlavorTree::Edited& edited, NodeFilter& filter) const;

  // Returns the bytes that it takes, including what it shares.
  std::int64_t Bytes() const;

 private:
  LeafNodes() = default;
  std::shared_ptr<const Node> NodeAt(std::int32_t leaf) const;
  const Change* FindChange(std::int32_t leaf) const;
  bool IsAsPacked(const Change& change) const;
  std::int32_t PackedCount(std::int32_t leaf) const;
  void FindVacant();

  std::shared_ptr<const NodeColumns> columns_;
  // The node of each leaf as packed, -1 where the leaf has joined since, and the number of its
  // nodes.
  std::shared_ptr<const std::vector<std::int32_t>> node_of_;
  std::shared_ptr<const std::vector<std::int32_t>> counts_;
  std::vector<Change> changed_;  // by leaf
  std::vector<std::int32_t> vacant_;
  std::shared_ptr<const NodeFilter> occupied_;
  std::int64_t node_count_ = 0;
};

}  // namespace espalier
