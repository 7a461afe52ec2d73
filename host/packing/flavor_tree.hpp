// The leaves of one flavor and the domains above them, as flat arrays that never change.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/packing/name_index.hpp"
#include "host/packing/node_columns.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A run of leaves that are adjacent in two trees.
struct LeafRun {
  std::int32_t from = 0;  // the first of them in the tree before
  std::int32_t to = 0;    // and in the tree after
  std::int32_t size = 0;
};

class FlavorTree {
 public:
  // Makes the tree of the leaves of these nodes, which are in path order. All of them must have the
  // labels of the levels.
  FlavorTree(std::vector<std::string> levels, std::shared_ptr<const NodeColumns> nodes,
             std::span<const std::int32_t> node_of_leaf);

  struct Edited;
  // Returns the tree without the leaves `dropped`, which ascend, and with leaves on the paths
  // `joined`, which ascend and are not in the tree. Takes some nanoseconds per leaf.
  Edited Edit(std::span<const std::int32_t> dropped,
              std::span<const std::vector<std::string>> joined) const;

  const std::vector<std::string>& levels() const { return levels_; }
  bool host_topology() const { return host_topology_; }  // R1.1
  TreeView view() const;
  std::int32_t leaf_count() const { return leaf_count_; }
  std::int32_t domain_count() const { return level_begin_.back(); }

  // Returns the leaf with this id (R4.1), or an invalid id. The index is made on first use;
  // thread-safe.
  LeafId FindId(std::string_view id) const;
  // Writes the leaves with these ids, each as FindId, to `leaves`; faster than one by one.
  void FindIds(std::span<const std::string_view> ids, std::span<LeafId> leaves) const;
  // Returns the leaf on this path, one value a level, or an invalid id.
  LeafId FindPath(std::span<const std::string> path) const;
  // Returns the root with this value, or an invalid id.
  DomainId FindRoot(std::string_view value) const;

  std::string LeafIdText(LeafId leaf) const;
  // Returns the last level value of a domain.
  const std::string& Value(DomainId domain) const;
  // Returns all level values of a domain, coarsest first (R4.3).
  std::vector<std::string> Path(DomainId domain) const;
  DomainId LeafDomain(LeafId leaf) const {
    return DomainId(level_begin_[levels_.size() - 1] + leaf.value);
  }
  DomainId Ancestor(LeafId leaf, std::int32_t level) const;

  // Leaves in groups: the children of one domain, or runs of kFlatGroup in a topology of one level.
  static constexpr std::int32_t kFlatGroup = 16;
  std::int32_t group_count() const;
  std::int32_t GroupOf(LeafId leaf) const;
  DomainRange GroupLeaves(std::int32_t group) const;  // leaf indices
  // Returns the number of leaves of every group where all have the same, else 0.
  std::int32_t group_width() const { return group_width_; }

  std::int64_t Bytes() const;

 private:
  class Builder;
  FlavorTree() = default;
  std::vector<std::int32_t> ValuesOf(const std::vector<std::string>& path);
  const std::string& ValueAt(std::size_t level, std::int32_t value) const;
  std::size_t LevelOf(DomainId domain) const;
  // Returns the first of the domains [begin, end) of a level, which are siblings, with this value
  // or a greater one.
  std::int32_t LowerBound(std::size_t level, std::int32_t begin, std::int32_t end,
                          std::string_view value) const;
  std::size_t FirstDifference(LeafId leaf, std::span<const std::string> path) const;
  std::int32_t LeavesBefore(std::span<const std::string> path) const;
  void MeasureGroups();
  void IndexLeaves() const;
  void TakeOverIndex(const FlavorTree& before, std::span<const LeafRun> runs,
                     std::span<const LeafId> joined);
  std::string_view IndexedId(std::int32_t leaf) const;

  std::vector<std::string> levels_;
  bool host_topology_ = false;
  std::shared_ptr<const NodeColumns> nodes_;
  std::vector<const LabelColumn*> labels_;  // by level; null: no node has the label
  // Values that came later, by level: they are numbered behind those of the label.
  std::vector<std::vector<std::string>> later_values_;
  std::int32_t leaf_count_ = 0;
  std::int32_t group_width_ = 0;

  std::vector<std::int32_t> level_begin_;  // [levels + 1]
  std::vector<std::int32_t> parent_;       // [domains]
  std::vector<std::int32_t> child_begin_;  // [inner domains + 1]
  std::vector<std::int32_t> value_of_;     // [domains] number among the values of the level

  mutable std::once_flag leaves_indexed_;  // guards the three below
  mutable bool indexed_ = false;
  mutable std::vector<std::string> joined_ids_;  // [leaves] where an id is more than one value
  mutable NameIndex leaf_by_id_;
};

struct FlavorTree::Edited {
  std::shared_ptr<const FlavorTree> tree;
  std::vector<LeafRun> runs;   // ascending both ways; leaves of `tree` in none of them have joined
  std::vector<LeafId> joined;  // where in `tree` the paths lie, in their order
};

}  // namespace espalier
