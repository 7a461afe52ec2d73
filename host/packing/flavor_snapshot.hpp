// One flavor's nodes and topology, packed: immutable flat arrays, shared by every state built on
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/resources.hpp"
#include "host/model/topology.hpp"
#include "host/packing/name_index.hpp"
#include "host/packing/node_columns.hpp"
#include "host/packing/node_filter.hpp"
#include "host/packing/paged_array.hpp"
#include "host/packing/shape.hpp"
#include "kernels/views.hpp"

namespace espalier {

class FlavorSnapshot {
 public:
  // Usage by node name.
  using UsageByNode = std::unordered_map<std::string_view, Resources>;

  // Packs the available nodes that belong to the flavor (section 3) into the tree of section 4.
  // `non_tas_usage` is subtracted per node (R5.3); names that are no node are ignored. What the
  // snapshot takes stays charged to `budget`; once that is stopped, the snapshot is of no use.
  FlavorSnapshot(const ResourceFlavor& flavor, const Topology& topology,
                 std::shared_ptr<const NodeColumns> nodes, const UsageByNode& non_tas_usage,
                 WorkBudget& budget = WorkBudget::Unlimited());

  const ResourceFlavor& flavor() const { return flavor_; }
  const std::string& topology_name() const { return topology_name_; }
  const std::vector<std::string>& levels() const { return levels_; }
  bool host_topology() const { return host_topology_; }  // R1.1

  TreeView tree() const;
  std::int32_t leaf_count() const { return leaf_count_; }
  std::int64_t node_count() const { return node_count_; }  // available nodes of the flavor
  std::int32_t domain_count() const { return level_begin_.back(); }

  // Returns the leaf that has the capacity of the node at this position among the cluster's nodes,
  // or an invalid id: the node is none of the flavor's, or not available.
  LeafId LeafOfNode(std::size_t node) const { return LeafId(leaf_of_[node]); }

  // Index of a level key, or -1.
  std::int32_t FindLevel(std::string_view key) const;
  // The leaf with this id (R4.1), or an invalid id. The index is made on first use; safe to call
  // from several threads.
  LeafId FindLeaf(std::string_view id) const;
  // The root with this value, or an invalid id.
  DomainId FindRoot(std::string_view value) const;
  // The id of a leaf (R4.1).
  std::string LeafIdText(LeafId leaf) const;
  // The last level value of a domain.
  const std::string& Value(DomainId domain) const;
  // All level values of a domain of `level`, coarsest first (R4.3).
  std::vector<std::string> Path(DomainId domain) const;
  DomainId LeafDomain(LeafId leaf) const {
    return DomainId(level_begin_[levels_.size() - 1] + leaf.value);
  }
  // The ancestor of a leaf at a level.
  DomainId Ancestor(LeafId leaf, std::int32_t level) const;

  // Leaves in blocks: the children of one domain, or runs of kFlatBlock in a topology of one level.
  // Usage changes are tracked per block.
  static constexpr std::int32_t kFlatBlock = 16;
  std::int32_t block_count() const;
  std::int32_t BlockOf(LeafId leaf) const;
  DomainRange BlockLeaves(std::int32_t block) const;  // leaf indices
  // Leaves of every block where all have the same number, else 0.
  std::int32_t block_width() const { return block_width_; }

  // Resources of the cluster's nodes, in byte-wise order of the names; the column of one, or -1.
  const std::vector<std::string>& resources() const { return nodes_->resources; }
  std::int32_t FindResource(std::string_view name) const;

  // Allocatable minus non-TAS usage as packed, structure of arrays: [resource * stride + leaf]
  // (R5.1). Behind the last column kReadAhead more entries may be read.
  static constexpr std::size_t kReadAhead = 16;
  std::int64_t stride() const { return stride_; }
  const PagedArray<Amount>& free() const { return free_; }
  // By column, the largest magnitude of its amounts.
  const std::vector<Amount>& magnitudes() const { return magnitudes_; }

  // Filters and shapes are kept for reuse only; past so many bytes or entries of a kind they all
  // give way.
  static constexpr std::int64_t kMostKeptBytes = std::int64_t{64} << 20;
  static constexpr std::size_t kMostKeptEntries = 4096;

  // The filter for these constraints, made on first use; safe to call from several threads. Only
  // for host topologies. One whose making was stopped says nothing and is not kept.
  std::shared_ptr<const NodeFilter> Filter(const NodeConstraints& constraints,
                                           WorkBudget& budget = WorkBudget::Unlimited()) const;

  // The one object for all equal shapes, so that shapes compare by address; thread-safe. Once
  // `budget` is stopped, as its filter may say nothing, a shape is not kept.
  std::shared_ptr<const Shape> Intern(Shape shape,
                                      WorkBudget& budget = WorkBudget::Unlimited()) const;

  // Returns the bytes of the filters and shapes that are kept.
  std::int64_t kept_bytes() const;

 private:
  std::vector<std::int32_t> SelectPool() const;
  std::vector<std::int32_t> RepresentativesOf(const std::vector<std::int32_t>& pool) const;
  void PackTree();
  void MeasureBlocks();
  void IndexLeaves() const;
  std::string_view IndexedId(std::int32_t leaf) const;
  void PackCapacity(const std::vector<std::int32_t>& pool, const UsageByNode& non_tas_usage,
                    WorkBudget& budget);
  // Usage by leaf.
  using UsedLeaves = std::vector<std::pair<std::size_t, const Resources*>>;
  void PackDense(const std::vector<std::int32_t>& pool, const UsedLeaves& used,
                 const WorkBudget& budget);
  void PackSparse(const UsedLeaves& used, WorkBudget& budget);
  std::int64_t TreeBytes() const;

  std::shared_ptr<const NodeColumns> nodes_;
  ResourceFlavor flavor_;
  std::string topology_name_;
  std::vector<std::string> levels_;
  std::vector<const LabelColumn*> level_labels_;  // null: no node has the label
  bool host_topology_ = false;
  std::int32_t leaf_count_ = 0;
  std::int32_t block_width_ = 0;
  std::int64_t node_count_ = 0;

  std::vector<std::int32_t> level_begin_;  // [levels + 1]
  std::vector<std::int32_t> parent_;       // [domains]
  std::vector<std::int32_t> child_begin_;  // [inner domains + 1]
  std::vector<std::int32_t> value_of_;     // [domains] index into the values of the level's label
  std::vector<std::int32_t> node_of_;      // [leaves] the node that stands for the leaf (R4.4)
  std::vector<std::int32_t> leaf_of_;      // [nodes] -1: not one of the flavor's

  mutable std::once_flag leaves_indexed_;        // guards the two below
  mutable std::vector<std::string> joined_ids_;  // [leaves] where an id is more than one value
  mutable NameIndex leaf_by_id_;

  std::int64_t stride_ = 0;
  PagedArray<Amount> free_;
  std::vector<Amount> magnitudes_;

  template <class Item>
  using Kept = std::unordered_map<std::string, std::shared_ptr<const Item>>;
  // The value under the key, or null.
  template <class Item>
  std::shared_ptr<const Item> FindKept(const Kept<Item>& kept, const std::string& key) const;
  // Keeps a value that took so many bytes of the budget, which pass to the value. Returns the one
  // that was kept before where there is one.
  template <class Item>
  std::shared_ptr<const Item> Keep(Kept<Item>& kept, std::string key, Item value,
                                   std::int64_t bytes, WorkBudget& budget) const;

  mutable std::mutex mutex_;  // guards what is below
  mutable std::int64_t kept_bytes_ = 0;
  mutable Kept<NodeFilter> filters_;
  mutable Kept<Shape> shapes_;
};

}  // namespace espalier
