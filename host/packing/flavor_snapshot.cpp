#include "host/packing/flavor_snapshot.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "host/model/lru_by_bytes.hpp"
#include "host/packing/node_match.hpp"
#include "host/packing/parallel_for.hpp"
#include "host/packing/path_order.hpp"

namespace espalier {
namespace {

using Labels = std::vector<const LabelColumn*>;

// Returns the nodes of a flavor: available, with its labels and all level labels (R3.1, R3.2).
std::vector<std::int32_t> SelectNodes(const ResourceFlavor& flavor, const NodeColumns& nodes,
                                      const Labels& levels) {
  std::vector<std::int32_t> pool;
  if (std::ranges::find(levels, nullptr) != levels.end()) return pool;
  struct Wanted {
    const LabelColumn* label;
    std::int32_t value;  // -1 also stands for the empty value of a missing label
    bool or_missing;
  };
  std::vector<Wanted> wanted;
  for (const auto& [key, value] : flavor.node_labels) {
    const LabelColumn* label = nodes.FindLabel(key);
    const std::int32_t index = label == nullptr ? -1 : label->FindValue(value);
    if (index < 0 && !value.empty()) return pool;
    if (label != nullptr) wanted.push_back({label, index, value.empty()});
  }
  // Label by label, in the order of memory.
  std::vector<std::uint8_t> belongs(nodes.size());
  const auto keep_where = [&](const auto& condition) {
    for (std::size_t node = 0; node < belongs.size(); ++node) belongs[node] &= condition(node);
  };
  for (std::size_t node = 0; node < belongs.size(); ++node) {
    belongs[node] = nodes.available[node] != 0;
  }
  for (const LabelColumn* label : levels) {
    keep_where([values = label->value_of.data()](std::size_t node) { return values[node] >= 0; });
  }
  for (const Wanted& w : wanted) {
    keep_where([&](std::size_t node) {
      const std::int32_t value = w.label->value_of[node];
      return value < 0 ? w.or_missing : value == w.value;
    });
  }
  pool.reserve(belongs.size());
  for (std::size_t node = 0; node < belongs.size(); ++node) {
    if (belongs[node] != 0) pool.push_back(static_cast<std::int32_t>(node));
  }
  return pool;
}

// In a host topology nodes of one hostname are one leaf, on the path of the node with the smallest
// name (R4.4, section 24). Returns for each pool node the node that stands for it.
std::vector<std::int32_t> RepresentativesOf(const std::vector<std::int32_t>& pool,
                                            const NodeColumns& nodes, const LabelColumn& hostname) {
  std::vector<std::int32_t> by_hostname(hostname.values.size(), -1);
  const auto slot_of = [&](std::int32_t node) -> std::int32_t& {
    return by_hostname[static_cast<std::size_t>(hostname.value_of[static_cast<std::size_t>(node)])];
  };
  for (const std::int32_t node : pool) {
    std::int32_t& slot = slot_of(node);
    if (slot < 0 ||
        nodes.names[static_cast<std::size_t>(node)] < nodes.names[static_cast<std::size_t>(slot)]) {
      slot = node;
    }
  }
  std::vector<std::int32_t> represented_by;
  represented_by.reserve(pool.size());
  for (const std::int32_t node : pool) represented_by.push_back(slot_of(node));
  return represented_by;
}

// Returns the stride of a column. It is no multiple of a page: reading a column behind a write
// to the same place of another column's page would wait for that write.
std::int64_t StrideOf(std::int32_t leaves) {
  constexpr std::int64_t kPage = 4096 / sizeof(Amount);
  const std::int64_t stride = (static_cast<std::int64_t>(leaves) + 7) / 8 * 8;
  return stride % kPage == 0 ? stride + 8 : stride;
}

}  // namespace

struct FlavorSnapshot::Pool {
  std::vector<std::int32_t> nodes;
  std::vector<std::int32_t> node_of;  // [leaves] the node that stands for the leaf (R4.4)
  std::vector<std::int32_t> leaf_of;  // [nodes of the cluster] -1: not one of the flavor's
};

// Filters and shapes by their keys. A filter is valid for the nodes that were on the leaves when it
// was last requested.
class FlavorSnapshot::Cache {
 public:
  struct CachedFilter {
    std::shared_ptr<const NodeFilter> filter;
    std::shared_ptr<const LeafNodes> of;
    std::shared_ptr<const NodeConstraints> constraints;
    std::shared_ptr<const MemoryHold> memory;
  };

  CachedFilter FindFilter(const std::string& key) { return Find(filters_, key); }
  std::shared_ptr<const PodShape> FindShape(const std::string& key) { return Find(shapes_, key); }

  // Keeps a value that took so many bytes of the budget, which pass to the value. Returns it,
  // or the one of the same nodes that was kept meanwhile.
  std::shared_ptr<const NodeFilter> KeepFilter(std::string key, NodeFilter filter,
                                               std::shared_ptr<const LeafNodes> of,
                                               std::shared_ptr<const NodeConstraints> constraints,
                                               std::int64_t bytes, WorkBudget& budget) {
    auto memory = std::make_shared<const MemoryHold>(budget.HandOver(bytes));
    auto owned = Own(std::move(filter), memory);
    const std::lock_guard lock(mutex_);
    if (const CachedFilter* kept = filters_.Find(key); kept != nullptr && kept->of == of) {
      return kept->filter;
    }
    Put(filters_, std::move(key), {owned, std::move(of), std::move(constraints), std::move(memory)},
        bytes, shapes_);
    return owned;
  }
  // The same, but returns the one that was kept before where there is one.
  std::shared_ptr<const PodShape> KeepShape(std::string key, PodShape shape, std::int64_t bytes,
                                            WorkBudget& budget) {
    auto owned = Own(std::move(shape), std::make_shared<const MemoryHold>(budget.HandOver(bytes)));
    const std::lock_guard lock(mutex_);
    if (const auto* kept = shapes_.Find(key); kept != nullptr) return *kept;
    Put(shapes_, std::move(key), owned, bytes, filters_);
    return owned;
  }

  // Brings filters of `before` and of those like it to the leaves of an edited tree; scores stay
  // behind.
  void Move(const LeafNodes& before, const TreeView& tree_before, const FlavorTree::Edited& edited,
            const std::shared_ptr<const LeafNodes>& after) {
    const std::lock_guard lock(mutex_);
    for (auto& kept : filters_) {
      const CachedFilter& old = kept.value;
      if (!old.of->IsLike(before) || !old.filter->affinity.empty()) continue;
      NodeFilter filter = *old.filter;
      before.Follow(*old.of, *old.constraints, tree_before, filter);
      after->MoveMatches(edited, filter);
      // It takes what it took before, but for leaves that join.
      kept.value = {Own(std::move(filter), old.memory), after, old.constraints, old.memory};
    }
  }

  std::int64_t bytes() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::int64_t>(filters_.bytes() + shapes_.bytes());
  }

 private:
  template <class Item>
  using ByKey = LruByBytes<std::string, Item>;

  template <class Item>
  Item Find(ByKey<Item>& kept, const std::string& key) {
    const std::lock_guard lock(mutex_);
    const Item* item = kept.Find(key);
    return item == nullptr ? Item() : *item;
  }

  // Keeps an item within the bytes of both kinds: those of its own kind give way first.
  template <class Item, class Other>
  static void Put(ByKey<Item>& kept, std::string key, Item item, std::int64_t bytes,
                  ByKey<Other>& others) {
    const auto more = static_cast<std::size_t>(bytes);
    kept.MakeRoom(more + others.bytes());
    others.MakeRoom(more + kept.bytes());
    kept.Put(std::move(key), std::move(item), more);
  }

  template <class Item>
  static std::shared_ptr<const Item> Own(Item value, std::shared_ptr<const MemoryHold> memory) {
    struct Owned {
      Item value;
      std::shared_ptr<const MemoryHold> memory;
    };
    const auto owned = std::make_shared<const Owned>(Owned{std::move(value), std::move(memory)});
    return std::shared_ptr<const Item>(owned, &owned->value);
  }

  mutable std::mutex mutex_;  // guards all below
  ByKey<CachedFilter> filters_{kMostCachedBytes, kMostCachedEntries};
  ByKey<std::shared_ptr<const PodShape>> shapes_{kMostCachedBytes, kMostCachedEntries};
};

FlavorSnapshot::FlavorSnapshot(const ResourceFlavor& flavor, const Topology& topology,
                               std::shared_ptr<const NodeColumns> nodes,
                               const UsageByNode& non_tas_usage, WorkBudget& budget)
    : nodes_(std::move(nodes)),
      flavor_(flavor),
      topology_name_(topology.name),
      cache_(std::make_shared<Cache>()) {
  std::vector<const LabelColumn*> labels;
  for (const std::string& key : topology.levels) labels.push_back(nodes_->FindLabel(key));
  // The charge is for what is needed on the way: a few numbers for each node, and for each domain
  // where it begins.
  const auto on_the_way =
      static_cast<std::int64_t>(nodes_->size() * sizeof(std::int32_t) * (5 + labels.size()));
  if (!budget.Charge(on_the_way)) return;
  Pool pool = MakePool(labels, topology.levels.back() == kHostnameLabel, budget);
  if (budget.stopped()) return;
  // No level has more domains than there are leaves.
  const std::int64_t most_tree_bytes =
      static_cast<std::int64_t>(pool.node_of.size() * labels.size() * 3 * sizeof(std::int32_t));
  if (!budget.Charge(most_tree_bytes)) return;
  ParallelFor(2, nodes_->allocatable.size(), [&](std::size_t part) {
    if (part == 0) {
      PackCapacity(pool, non_tas_usage, budget);
    } else {
      tree_ = std::make_shared<const FlavorTree>(topology.levels, nodes_, pool.node_of);
    }
  });
  std::vector<std::int32_t> counts;
  if (pool.nodes.size() != pool.node_of.size()) {
    counts.resize(pool.node_of.size());
    for (const std::int32_t node : pool.nodes) {
      ++counts[static_cast<std::size_t>(pool.leaf_of[static_cast<std::size_t>(node)])];
    }
  }
  leaf_nodes_ =
      std::make_shared<const LeafNodes>(nodes_, std::move(pool.node_of), std::move(counts));
  budget.Charge(TreeBytes());
  budget.Release(on_the_way + most_tree_bytes);
}

FlavorSnapshot::Pool FlavorSnapshot::MakePool(const Labels& labels, bool host_topology,
                                              const WorkBudget& budget) const {
  Pool pool;
  pool.nodes = SelectNodes(flavor_, *nodes_, labels);
  const bool by_hostname = host_topology && !pool.nodes.empty();
  const std::vector<std::int32_t> represented_by =
      by_hostname ? RepresentativesOf(pool.nodes, *nodes_, *labels.back()) : pool.nodes;

  std::vector<std::int32_t> order;  // of nodes that stand for themselves, in path order
  for (std::size_t i = 0; i < pool.nodes.size(); ++i) {
    if (represented_by[i] == pool.nodes[i]) order.push_back(pool.nodes[i]);
  }
  SortByPath(labels, order, budget);

  // Nodes of one path are one leaf; the first of them stands for it. In a host topology each has a
  // hostname of its own by now.
  pool.leaf_of.assign(nodes_->size(), -1);
  pool.node_of.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || host_topology || PathLess(labels, order[i - 1], order[i])) {
      pool.node_of.push_back(order[i]);
    }
    pool.leaf_of[static_cast<std::size_t>(order[i])] =
        static_cast<std::int32_t>(pool.node_of.size()) - 1;
  }
  for (std::size_t i = 0; i < pool.nodes.size(); ++i) {
    if (represented_by[i] == pool.nodes[i]) continue;
    pool.leaf_of[static_cast<std::size_t>(pool.nodes[i])] =
        pool.leaf_of[static_cast<std::size_t>(represented_by[i])];
  }
  return pool;
}

void FlavorSnapshot::PackCapacity(const Pool& pool, const UsageByNode& non_tas_usage,
                                  WorkBudget& budget) {
  UsedLeaves used;
  if (!non_tas_usage.empty()) {
    for (const std::int32_t node : pool.nodes) {
      const auto usage = non_tas_usage.find(nodes_->names[static_cast<std::size_t>(node)]);
      if (usage == non_tas_usage.end()) continue;
      used.emplace_back(static_cast<std::size_t>(pool.leaf_of[static_cast<std::size_t>(node)]),
                        &usage->second);
    }
  }
  stride_ = StrideOf(static_cast<std::int32_t>(pool.node_of.size()));
  const std::size_t columns = resources().size();
  const std::size_t size = static_cast<std::size_t>(stride_) * columns + kReadAhead;
  if (!budget.Charge(static_cast<std::int64_t>(columns * sizeof(Amount)) +
                     PagedArray<Amount>::FirstBytes(size, nodes_->sparse))) {
    return;
  }
  const auto free = std::make_shared<PagedArray<Amount>>(size, nodes_->sparse);
  magnitudes_.resize(columns);
  nodes_->sparse ? PackSparse(pool, used, *free, budget) : PackDense(pool, used, *free, budget);
  free_ = free;
}

void FlavorSnapshot::PackDense(const Pool& pool, const UsedLeaves& used, PagedArray<Amount>& free,
                               const WorkBudget& budget) {
  const auto leaves = pool.node_of.size();
  const auto stride = static_cast<std::size_t>(stride_);
  std::fill_n(free.end() - kReadAhead, kReadAhead, 0);
  ParallelFor(resources().size(), free.size(), [&](std::size_t r) {
    if (budget.stopped()) return;
    const std::span<Amount> column = std::span(free).subspan(r * stride, stride);
    const Amount* allocatable = nodes_->allocatable.data() + r * nodes_->size();
    if (pool.nodes.size() == leaves) {
      for (std::size_t leaf = 0; leaf < leaves; ++leaf)
        column[leaf] = allocatable[pool.node_of[leaf]];
      std::ranges::fill(column.subspan(leaves), 0);
    } else {
      std::ranges::fill(column, 0);
      for (const std::int32_t node : pool.nodes) {
        Amount& slot = column[pool.leaf_of[static_cast<std::size_t>(node)]];
        slot = SaturatingAdd(slot, allocatable[node]);
      }
    }
    for (const auto& [leaf, usage] : used) {
      const Amount* amount = usage->Find(resources()[r]);
      if (amount != nullptr) column[leaf] = SaturatingSubtract(column[leaf], *amount);
    }
    for (const Amount amount : column) magnitudes_[r] = std::max(magnitudes_[r], Magnitude(amount));
  });
}

void FlavorSnapshot::PackSparse(const Pool& pool, const UsedLeaves& used, PagedArray<Amount>& free,
                                WorkBudget& budget) {
  const auto stride = static_cast<std::size_t>(stride_);
  const auto slot_of = [&](std::size_t column, std::size_t leaf) -> Amount& {
    const std::size_t at = column * stride + leaf;
    if (free.Use(at)) budget.Charge(PagedArray<Amount>::kPageBytes);
    return free[at];
  };
  for (const auto& [resource, node, amount] : nodes_->amounts) {
    if (budget.stopped()) return;
    const std::int32_t leaf = pool.leaf_of[static_cast<std::size_t>(node)];
    if (leaf < 0) continue;
    Amount& slot = slot_of(static_cast<std::size_t>(resource), static_cast<std::size_t>(leaf));
    slot = SaturatingAdd(slot, amount);
  }
  for (const auto& [leaf, usage] : used) {
    for (const auto& [name, amount] : *usage) {
      if (budget.stopped()) return;
      const std::int32_t column = FindResource(name);
      if (column < 0) continue;
      Amount& slot = slot_of(static_cast<std::size_t>(column), leaf);
      slot = SaturatingSubtract(slot, amount);
    }
  }
  for (std::size_t r = 0; r < resources().size() && !budget.stopped(); ++r) {
    free.ForEachUsed(r * stride, (r + 1) * stride, [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; ++at) {
        magnitudes_[r] = std::max(magnitudes_[r], Magnitude(free[at]));
      }
    });
  }
}

std::shared_ptr<const FlavorSnapshot> FlavorSnapshot::With(
    std::shared_ptr<const LeafNodes> leaf_nodes) const {
  const std::shared_ptr<FlavorSnapshot> after(new FlavorSnapshot(*this));
  after->leaf_nodes_ = std::move(leaf_nodes);
  return after;
}

std::optional<NodePlace> FlavorSnapshot::PlaceOf(const Node& node) const {
  if (node.unschedulable || !node.ready) return std::nullopt;
  auto path = PathInFlavor(node, flavor_, levels());
  if (!path) return std::nullopt;
  const LeafId leaf = tree_->FindPath(*path);
  return NodePlace{*std::move(path), leaf};
}

std::int32_t FlavorSnapshot::FindLevel(std::string_view key) const {
  const auto it = std::ranges::find(levels(), key);
  return it == levels().end() ? -1 : static_cast<std::int32_t>(it - levels().begin());
}

LeafId FlavorSnapshot::FindLeaf(std::string_view id) const {
  const LeafId leaf = FindLeafOrVacant(id);
  return leaf.valid() && leaf_nodes_->IsVacant(leaf) ? LeafId() : leaf;
}

void FlavorSnapshot::FindLeaves(std::span<const std::string_view> ids,
                                std::span<LeafId> leaves) const {
  FindLeavesOrVacant(ids, leaves);
  for (LeafId& leaf : leaves) {
    if (leaf.valid() && leaf_nodes_->IsVacant(leaf)) leaf = LeafId();
  }
}

std::int32_t FlavorSnapshot::FindResource(std::string_view name) const {
  const auto it = std::ranges::lower_bound(resources(), name);
  return it != resources().end() && *it == name
             ? static_cast<std::int32_t>(it - resources().begin())
             : -1;
}

std::shared_ptr<const FlavorSnapshot> FlavorSnapshot::On(const FlavorTree::Edited& edited) const {
  const std::shared_ptr<FlavorSnapshot> after(new FlavorSnapshot(*this));
  after->tree_ = edited.tree;
  after->leaf_nodes_ = leaf_nodes_->Moved(edited);
  cache_->Move(*leaf_nodes_, tree(), edited, after->leaf_nodes_);
  after->stride_ = StrideOf(edited.tree->leaf_count());
  after->free_ = nullptr;
  return after;
}

std::int64_t FlavorSnapshot::cached_bytes() const { return cache_->bytes(); }

std::shared_ptr<const NodeFilter> FlavorSnapshot::Filter(const NodeConstraints& constraints,
                                                         WorkBudget& budget) const {
  return Filter(std::make_shared<const NodeConstraints>(constraints), constraints.Key(), budget);
}

std::shared_ptr<const NodeFilter> FlavorSnapshot::Filter(
    const std::shared_ptr<const NodeConstraints>& constraints, std::string key,
    WorkBudget& budget) const {
  const Cache::CachedFilter kept = cache_->FindFilter(key);
  if (kept.of == leaf_nodes_) return kept.filter;
  const auto key_bytes = static_cast<std::int64_t>(key.size());
  NodeFilter filter;
  if (kept.of != nullptr && kept.of->IsLike(*leaf_nodes_)) {
    // A bitmap and a taint may come to it.
    const std::int64_t most = kept.filter->Bytes() + tree_->leaf_count() / 8 + 512;
    if (!budget.Charge(most)) return std::make_shared<const NodeFilter>();
    filter = *kept.filter;
    leaf_nodes_->Follow(*kept.of, *constraints, tree(), filter);
    budget.Charge(filter.Bytes() + key_bytes);
    budget.Release(most);
  } else {
    filter = leaf_nodes_->Evaluate(*constraints, tree(), budget);
    budget.Charge(key_bytes);
  }
  if (budget.stopped()) return std::make_shared<const NodeFilter>(std::move(filter));
  const std::int64_t bytes = filter.Bytes() + key_bytes;
  return cache_->KeepFilter(std::move(key), std::move(filter), leaf_nodes_, constraints, bytes,
                            budget);
}

std::shared_ptr<const NodeFilter> FlavorSnapshot::FilterOf(const PodShape& shape,
                                                           WorkBudget& budget) const {
  return shape.constraints == nullptr ? leaf_nodes_->occupied()
                                      : Filter(shape.constraints, shape.constraints_key, budget);
}

std::shared_ptr<const PodShape> FlavorSnapshot::Intern(PodShape shape, WorkBudget& budget) const {
  std::string key = shape.Key();
  if (auto kept = cache_->FindShape(key)) return kept;
  const std::int64_t bytes = shape.Bytes() + static_cast<std::int64_t>(key.size());
  if (!budget.Charge(bytes)) return std::make_shared<const PodShape>(std::move(shape));
  return cache_->KeepShape(std::move(key), std::move(shape), bytes, budget);
}

}  // namespace espalier
