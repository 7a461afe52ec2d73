// One flavor's nodes and topology, packed: immutable flat arrays, shared by every state built on
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/model/node.hpp"
#include "host/model/resources.hpp"
#include "host/model/topology.hpp"
#include "host/packing/flavor_tree.hpp"
#include "host/packing/leaf_nodes.hpp"
#include "host/packing/node_columns.hpp"
#include "host/packing/node_filter.hpp"
#include "host/packing/paged_array.hpp"
#include "host/packing/pod_shape.hpp"
#include "kernels/views.hpp"

namespace espalier {

// The place of a node in a flavor's topology.
struct NodePlace {
  std::vector<std::string> path;  // one value a level
  LeafId leaf;                    // of that path; invalid: the flavor has no such leaf
};

class FlavorSnapshot {
 public:
  // Usage by node name.
  using UsageByNode = std::unordered_map<std::string_view, Resources>;

  // Packs the available nodes that belong to the flavor (section 3) into the tree of section 4.
  // `non_tas_usage` is subtracted per node (R5.3); names that are not nodes are ignored. The memory
  // of the snapshot stays charged to `budget`; once that is stopped, the snapshot must not be used.
  FlavorSnapshot(const ResourceFlavor& flavor, const Topology& topology,
                 std::shared_ptr<const NodeColumns> nodes, const UsageByNode& non_tas_usage,
                 WorkBudget& budget = WorkBudget::Unlimited());

  // Returns this snapshot with other nodes on its leaves. Both share what is large.
  std::shared_ptr<const FlavorSnapshot> With(std::shared_ptr<const LeafNodes> leaf_nodes) const;
  // Returns this snapshot on an edited tree, whose new leaves are vacant. It has no free().
  std::shared_ptr<const FlavorSnapshot> On(const FlavorTree::Edited& edited) const;

  const ResourceFlavor& flavor() const { return flavor_; }
  const std::string& topology_name() const { return topology_name_; }
  const std::vector<std::string>& levels() const { return tree_->levels(); }
  bool host_topology() const { return tree_->host_topology(); }  // R1.1

  TreeView tree() const { return tree_->view(); }
  const FlavorTree& flavor_tree() const { return *tree_; }
  const LeafNodes& leaf_nodes() const { return *leaf_nodes_; }
  // Returns the number of leaves, including vacant ones, which keep their places.
  std::int32_t leaf_count() const { return tree_->leaf_count(); }
  std::int32_t occupied_leaf_count() const {
    return leaf_count() - static_cast<std::int32_t>(leaf_nodes_->vacant().size());
  }
  std::int64_t node_count() const { return leaf_nodes_->node_count(); }  // available, of the flavor
  std::int32_t domain_count() const { return tree_->domain_count(); }

  // Returns the position of a leaf among those that are not vacant, which is its index in answers.
  std::int32_t IndexOf(LeafId leaf) const {
    const std::span<const std::int32_t> vacant = leaf_nodes_->vacant();
    if (vacant.empty()) return leaf.value;
    const auto next = std::lower_bound(vacant.begin(), vacant.end(), leaf.value);
    return leaf.value - static_cast<std::int32_t>(next - vacant.begin());
  }
  // Returns where a node belongs (R3.1, R3.2); nullopt when it is none of the flavor's.
  std::optional<NodePlace> PlaceOf(const Node& node) const;

  // Returns the index of a level key, or -1.
  std::int32_t FindLevel(std::string_view key) const;
  // Returns the leaf with this id (R4.1), or an invalid id, also when the leaf is vacant. The index
  // is made on first use; thread-safe.
  LeafId FindLeaf(std::string_view id) const;
  // Returns the same for vacant leaves too, which keep their amounts.
  LeafId FindLeafOrVacant(std::string_view id) const { return tree_->FindId(id); }
  // Write the leaves with these ids, each as above, to `leaves`; faster than one by one.
  void FindLeaves(std::span<const std::string_view> ids, std::span<LeafId> leaves) const;
  void FindLeavesOrVacant(std::span<const std::string_view> ids, std::span<LeafId> leaves) const {
    tree_->FindIds(ids, leaves);
  }
  // Returns the root with this value, or an invalid id.
  DomainId FindRoot(std::string_view value) const { return tree_->FindRoot(value); }
  // Returns the id of a leaf (R4.1).
  std::string LeafIdText(LeafId leaf) const { return tree_->LeafIdText(leaf); }
  // Returns the last level value of a domain.
  const std::string& Value(DomainId domain) const { return tree_->Value(domain); }
  // Returns all level values of a domain of `level`, coarsest first (R4.3).
  std::vector<std::string> Path(DomainId domain) const { return tree_->Path(domain); }
  DomainId LeafDomain(LeafId leaf) const { return tree_->LeafDomain(leaf); }
  // Returns the ancestor of a leaf at a level.
  DomainId Ancestor(LeafId leaf, std::int32_t level) const { return tree_->Ancestor(leaf, level); }

  // Forwards to FlavorTree. Usage changes are tracked per group.
  static constexpr std::int32_t kFlatGroup = FlavorTree::kFlatGroup;
  std::int32_t group_count() const { return tree_->group_count(); }
  std::int32_t GroupOf(LeafId leaf) const { return tree_->GroupOf(leaf); }
  DomainRange GroupLeaves(std::int32_t group) const { return tree_->GroupLeaves(group); }
  std::int32_t group_width() const { return tree_->group_width(); }

  // Returns the resources of the cluster's nodes, in byte-wise order of the names. FindResource
  // returns the column of one, or -1.
  const std::vector<std::string>& resources() const { return nodes_->resources; }
  std::int32_t FindResource(std::string_view name) const;

  // Returns allocatable minus non-TAS usage as packed, structure of arrays: [resource * stride +
  // leaf] (R5.1). Behind the last column kReadAhead more entries may be read.
  static constexpr std::size_t kReadAhead = 16;
  std::int64_t stride() const { return stride_; }
  const PagedArray<Amount>& free() const { return *free_; }
  const std::shared_ptr<const PagedArray<Amount>>& shared_free() const { return free_; }
  // Returns by column the largest magnitude of its amounts.
  const std::vector<Amount>& magnitudes() const { return magnitudes_; }

  // Limits of the cached filters and shapes, in bytes of both and entries of a kind. More entries
  // than workloads are pending, or each queue would drop its own shapes.
  static constexpr std::int64_t kMostCachedBytes = std::int64_t{64} << 20;
  static constexpr std::size_t kMostCachedEntries = 16'384;

  // Returns the filter for these constraints, which is made on first use; thread-safe. Only for
  // host topologies. A filter whose making was stopped is meaningless and is not cached.
  std::shared_ptr<const NodeFilter> Filter(const NodeConstraints& constraints,
                                           WorkBudget& budget = WorkBudget::Unlimited()) const;
  // Returns the filter of a shape's constraints; null: every leaf passes it (R7.1).
  std::shared_ptr<const NodeFilter> FilterOf(const PodShape& shape,
                                             WorkBudget& budget = WorkBudget::Unlimited()) const;

  // Returns the one object for all equal shapes, so that shapes compare by address; thread-safe.
  // Once `budget` is stopped, a shape is not cached, as its filter may be meaningless.
  std::shared_ptr<const PodShape> Intern(PodShape shape,
                                         WorkBudget& budget = WorkBudget::Unlimited()) const;

  // Returns the bytes of the cached filters and shapes.
  std::int64_t cached_bytes() const;

  // Returns the bytes of the tree and of the records of the nodes on its leaves.
  std::int64_t TreeBytes() const { return tree_->Bytes() + leaf_nodes_->Bytes(); }

 private:
  class Cache;
  // Nodes of the flavor and the leaves they make, while they are packed.
  struct Pool;

  FlavorSnapshot(const FlavorSnapshot&) = default;
  Pool MakePool(const std::vector<const LabelColumn*>& labels, bool host_topology,
                const WorkBudget& budget) const;
  void PackCapacity(const Pool& pool, const UsageByNode& non_tas_usage, WorkBudget& budget);
  // Usage by leaf.
  using UsedLeaves = std::vector<std::pair<std::size_t, const Resources*>>;
  void PackDense(const Pool& pool, const UsedLeaves& used, PagedArray<Amount>& free,
                 const WorkBudget& budget);
  void PackSparse(const Pool& pool, const UsedLeaves& used, PagedArray<Amount>& free,
                  WorkBudget& budget);
  std::shared_ptr<const NodeFilter> Filter(
      const std::shared_ptr<const NodeConstraints>& constraints, std::string key,
      WorkBudget& budget) const;

  std::shared_ptr<const NodeColumns> nodes_;
  ResourceFlavor flavor_;
  std::string topology_name_;
  std::shared_ptr<const FlavorTree> tree_;
  std::shared_ptr<const LeafNodes> leaf_nodes_;
  std::int64_t stride_ = 0;
  std::shared_ptr<const PagedArray<Amount>> free_;
  std::vector<Amount> magnitudes_;
  std::shared_ptr<Cache> cache_;  // of all snapshots that came from the same one
};

}  // namespace espalier
