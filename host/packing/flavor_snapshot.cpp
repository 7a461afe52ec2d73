#include "host/packing/flavor_snapshot.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "host/packing/parts.hpp"
#include "host/packing/path_order.hpp"

namespace espalier {
FlavorSnapshot::FlavorSnapshot(const ResourceFlavor& flavor, const Topology& topology,
                               std::shared_ptr<const NodeColumns> nodes,
                               const UsageByNode& non_tas_usage, WorkBudget& budget)
    : nodes_(std::move(nodes)),
      flavor_(flavor),
      topology_name_(topology.name),
      levels_(topology.levels),
      host_topology_(topology.levels.back() == kHostnameLabel) {
  for (const std::string& key : levels_) level_labels_.push_back(nodes_->FindLabel(key));
  // What is needed on the way: a few numbers for each node, and for each domain where it begins.
  const auto on_the_way =
      static_cast<std::int64_t>(nodes_->size() * sizeof(std::int32_t) * (5 + levels_.size()));
  if (!budget.Charge(on_the_way)) return;
  const std::vector<std::int32_t> pool = SelectPool();
  node_count_ = static_cast<std::int64_t>(pool.size());
  const std::vector<std::int32_t> represented_by = RepresentativesOf(pool);

  std::vector<std::int32_t> order;  // of nodes that stand for themselves, in path order
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (represented_by[i] == pool[i]) order.push_back(pool[i]);
  }
  SortByPath(level_labels_, order);

  // Nodes of one path are one leaf; the first of them stands for it. In a host topology each has a
  // hostname of its own by now.
  leaf_of_.assign(nodes_->size(), -1);
  node_of_.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || host_topology_ || PathLess(level_labels_, order[i - 1], order[i])) {
      node_of_.push_back(order[i]);
    }
    leaf_of_[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(node_of_.size()) - 1;
  }
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (represented_by[i] == pool[i]) continue;
    leaf_of_[static_cast<std::size_t>(pool[i])] =
        leaf_of_[static_cast<std::size_t>(represented_by[i])];
  }
  leaf_count_ = static_cast<std::int32_t>(node_of_.size());
  // No level has more domains than there are leaves.
  const std::int64_t most_tree_bytes =
      static_cast<std::int64_t>(node_of_.size() * levels_.size() * 3 * sizeof(std::int32_t));
  if (!budget.Charge(most_tree_bytes)) return;
  ForEachPart(2, nodes_->allocatable.size(), [&](std::size_t part) {
    if (part == 0) {
      PackCapacity(pool, non_tas_usage, budget);
    } else {
      PackTree();
      MeasureBlocks();
    }
  });
  budget.Charge(TreeBytes());
  budget.Release(on_the_way + most_tree_bytes);
}

std::int64_t FlavorSnapshot::TreeBytes() const {
  const std::size_t numbers = level_begin_.size() + parent_.size() + child_begin_.size() +
                              value_of_.size() + node_of_.size() + leaf_of_.size();
  // The index of the leaves is made when it is needed first; ids of several values are some 64
  // bytes.
  const std::size_t ids = host_topology_ || levels_.size() == 1 ? 0 : 64 * node_of_.size();
  return static_cast<std::int64_t>(sizeof(*this) + numbers * sizeof(std::int32_t) +
                                   NameIndex::Bytes(node_of_.size()) + ids);
}

// Nodes of the flavor: available, with its labels and all level labels (R3.1, R3.2).
std::vector<std::int32_t> FlavorSnapshot::SelectPool() const {
  std::vector<std::int32_t> pool;
  if (std::ranges::find(level_labels_, nullptr) != level_labels_.end()) return pool;
  struct Wanted {
    const LabelColumn* label;
    std::int32_t value;  // -1 also stands for the empty value of a missing label
    bool or_missing;
  };
  std::vector<Wanted> wanted;
  for (const auto& [key, value] : flavor_.node_labels) {
    const LabelColumn* label = nodes_->FindLabel(key);
    const std::int32_t index = label == nullptr ? -1 : label->FindValue(value);
    if (index < 0 && !value.empty()) return pool;
    if (label != nullptr) wanted.push_back({label, index, value.empty()});
  }
  // Label by label, in the order of memory.
  std::vector<std::uint8_t> belongs(nodes_->size());
  const auto keep_where = [&](const auto& condition) {
    for (std::size_t node = 0; node < belongs.size(); ++node) belongs[node] &= condition(node);
  };
  for (std::size_t node = 0; node < belongs.size(); ++node) {
    belongs[node] = nodes_->available[node] != 0;
  }
  for (const LabelColumn* label : level_labels_) {
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
std::vector<std::int32_t> FlavorSnapshot::RepresentativesOf(
    const std::vector<std::int32_t>& pool) const {
  if (!host_topology_ || pool.empty()) return pool;
  const LabelColumn& hostname = *level_labels_.back();
  std::vector<std::int32_t> by_hostname(hostname.values.size(), -1);
  const auto slot_of = [&](std::int32_t node) -> std::int32_t& {
    return by_hostname[static_cast<std::size_t>(hostname.value_of[static_cast<std::size_t>(node)])];
  };
  for (const std::int32_t node : pool) {
    std::int32_t& slot = slot_of(node);
    if (slot < 0 || nodes_->names[static_cast<std::size_t>(node)] <
                        nodes_->names[static_cast<std::size_t>(slot)]) {
      slot = node;
    }
  }
  std::vector<std::int32_t> represented_by;
  represented_by.reserve(pool.size());
  for (const std::int32_t node : pool) represented_by.push_back(slot_of(node));
  return represented_by;
}

// Builds the level-major arrays from the nodes of the leaves, which are in path order.
void FlavorSnapshot::PackTree() {
  const std::size_t depth = levels_.size();
  const auto value_at = [&](std::size_t level, std::size_t leaf) {
    return level_labels_[level]->value_of[static_cast<std::size_t>(node_of_[leaf])];
  };
  // A domain of each level begins where its path prefix changes.
  std::vector<std::vector<std::int32_t>> first_leaf(depth);
  for (std::size_t leaf = 0; leaf < node_of_.size(); ++leaf) {
    std::size_t changed = 0;
    while (leaf > 0 && changed + 1 < depth &&
           value_at(changed, leaf) == value_at(changed, leaf - 1)) {
      ++changed;
    }
    for (std::size_t level = changed; level < depth; ++level) {
      first_leaf[level].push_back(static_cast<std::int32_t>(leaf));
    }
  }
  level_begin_.assign(1, 0);
  for (const auto& level : first_leaf) {
    level_begin_.push_back(level_begin_.back() + static_cast<std::int32_t>(level.size()));
  }
  const auto domains = static_cast<std::size_t>(level_begin_.back());
  value_of_.reserve(domains);
  parent_.reserve(domains);
  for (std::size_t level = 0; level < depth; ++level) {
    std::size_t above = 0;  // position in the level above
    for (const std::int32_t leaf : first_leaf[level]) {
      value_of_.push_back(value_at(level, static_cast<std::size_t>(leaf)));
      if (level == 0) {
        parent_.push_back(-1);
        continue;
      }
      const auto& parents = first_leaf[level - 1];
      while (above + 1 < parents.size() && parents[above + 1] <= leaf) ++above;
      parent_.push_back(level_begin_[level - 1] + static_cast<std::int32_t>(above));
    }
  }
  const std::int32_t inner = level_begin_[depth - 1];
  child_begin_.assign(static_cast<std::size_t>(inner) + 1, level_begin_.back());
  for (std::int32_t d = level_begin_.back(); d-- > level_begin_[1];) {
    child_begin_[static_cast<std::size_t>(parent_[static_cast<std::size_t>(d)])] = d;
  }
}

void FlavorSnapshot::MeasureBlocks() {
  if (leaf_count_ == 0) return;
  block_width_ = BlockLeaves(0).size();
  for (std::int32_t block = 1; block < block_count(); ++block) {
    if (BlockLeaves(block).size() != block_width_) block_width_ = 0;
  }
}

void FlavorSnapshot::IndexLeaves() const {
  if (!host_topology_ && levels_.size() > 1) {
    joined_ids_.reserve(node_of_.size());
    for (std::int32_t leaf = 0; leaf < leaf_count_; ++leaf) {
      joined_ids_.push_back(LeafIdText(LeafId(leaf)));
    }
  }
  leaf_by_id_ = NameIndex(node_of_.size());
  const auto id_at = [this](std::int32_t leaf) { return IndexedId(leaf); };
  for (std::int32_t leaf = 0; leaf < leaf_count_; ++leaf) leaf_by_id_.Add(leaf, id_at);
}

std::string_view FlavorSnapshot::IndexedId(std::int32_t leaf) const {
  if (!joined_ids_.empty()) return joined_ids_[static_cast<std::size_t>(leaf)];
  const auto domain = static_cast<std::size_t>(LeafDomain(LeafId(leaf)).value);
  return level_labels_.back()->values[static_cast<std::size_t>(value_of_[domain])];
}

void FlavorSnapshot::PackCapacity(const std::vector<std::int32_t>& pool,
                                  const UsageByNode& non_tas_usage, WorkBudget& budget) {
  UsedLeaves used;
  if (!non_tas_usage.empty()) {
    for (const std::int32_t node : pool) {
      const auto usage = non_tas_usage.find(nodes_->names[static_cast<std::size_t>(node)]);
      if (usage == non_tas_usage.end()) continue;
      used.emplace_back(static_cast<std::size_t>(leaf_of_[static_cast<std::size_t>(node)]),
                        &usage->second);
    }
  }
  // Not a multiple of a page: reading a column behind a write to the same place of another column's
  // page would wait for that write.
  constexpr std::int64_t kPage = 4096 / sizeof(Amount);
  stride_ = (static_cast<std::int64_t>(leaf_count_) + 7) / 8 * 8;
  if (stride_ % kPage == 0) stride_ += 8;
  const std::size_t columns = resources().size();
  const std::size_t size = static_cast<std::size_t>(stride_) * columns + kReadAhead;
  if (!budget.Charge(static_cast<std::int64_t>(columns * sizeof(Amount)) +
                     PagedArray<Amount>::FirstBytes(size, nodes_->sparse))) {
    return;
  }
  free_ = PagedArray<Amount>(size, nodes_->sparse);
  magnitudes_.resize(columns);
  nodes_->sparse ? PackSparse(used, budget) : PackDense(pool, used, budget);
}

void FlavorSnapshot::PackDense(const std::vector<std::int32_t>& pool, const UsedLeaves& used,
                               const WorkBudget& budget) {
  const auto leaves = node_of_.size();
  const auto stride = static_cast<std::size_t>(stride_);
  std::fill_n(free_.end() - kReadAhead, kReadAhead, 0);
  ForEachPart(resources().size(), free_.size(), [&](std::size_t r) {
    if (budget.stopped()) return;
    const std::span<Amount> column = std::span(free_).subspan(r * stride, stride);
    const Amount* allocatable = nodes_->allocatable.data() + r * nodes_->size();
    if (pool.size() == leaves) {
      for (std::size_t leaf = 0; leaf < leaves; ++leaf) column[leaf] = allocatable[node_of_[leaf]];
      std::ranges::fill(column.subspan(leaves), 0);
    } else {
      std::ranges::fill(column, 0);
      for (const std::int32_t node : pool) {
        Amount& slot = column[leaf_of_[static_cast<std::size_t>(node)]];
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

void FlavorSnapshot::PackSparse(const UsedLeaves& used, WorkBudget& budget) {
  const auto stride = static_cast<std::size_t>(stride_);
  const auto slot_of = [&](std::size_t column, std::size_t leaf) -> Amount& {
    const std::size_t at = column * stride + leaf;
    if (free_.Use(at)) budget.Charge(PagedArray<Amount>::kPageBytes);
    return free_[at];
  };
  for (const auto& [resource, node, amount] : nodes_->amounts) {
    if (budget.stopped()) return;
    const std::int32_t leaf = leaf_of_[static_cast<std::size_t>(node)];
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
    free_.ForEachUsed(r * stride, (r + 1) * stride, [&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; ++at) {
        magnitudes_[r] = std::max(magnitudes_[r], Magnitude(free_[at]));
      }
    });
  }
}

TreeView FlavorSnapshot::tree() const {
  return {static_cast<std::int32_t>(levels_.size()), level_begin_.data(), parent_.data(),
          child_begin_.data()};
}

std::int32_t FlavorSnapshot::FindLevel(std::string_view key) const {
  const auto it = std::ranges::find(levels_, key);
  return it == levels_.end() ? -1 : static_cast<std::int32_t>(it - levels_.begin());
}

LeafId FlavorSnapshot::FindLeaf(std::string_view id) const {
  std::call_once(leaves_indexed_, [this] { IndexLeaves(); });
  return LeafId(leaf_by_id_.Find(id, [this](std::int32_t leaf) { return IndexedId(leaf); }));
}

DomainId FlavorSnapshot::FindRoot(std::string_view value) const {
  const std::int32_t index =
      level_labels_.front() == nullptr ? -1 : level_labels_.front()->FindValue(value);
  const auto end = value_of_.begin() + level_begin_[1];
  const auto it = std::lower_bound(value_of_.begin(), end, index);
  return it != end && *it == index ? DomainId(static_cast<std::int32_t>(it - value_of_.begin()))
                                   : DomainId();
}

const std::string& FlavorSnapshot::Value(DomainId domain) const {
  std::size_t level = 0;
  while (level_begin_[level + 1] <= domain.value) ++level;
  return level_labels_[level]
      ->values[static_cast<std::size_t>(value_of_[static_cast<std::size_t>(domain.value)])];
}

std::string FlavorSnapshot::LeafIdText(LeafId leaf) const {
  const DomainId domain = LeafDomain(leaf);
  return host_topology_ ? Value(domain) : fmt::format("{}", fmt::join(Path(domain), ","));
}

std::vector<std::string> FlavorSnapshot::Path(DomainId domain) const {
  std::vector<std::string> path;
  for (std::int32_t d = domain.value; d >= 0; d = parent_[static_cast<std::size_t>(d)]) {
    path.push_back(Value(DomainId(d)));
  }
  std::ranges::reverse(path);
  return path;
}

DomainId FlavorSnapshot::Ancestor(LeafId leaf, std::int32_t level) const {
  std::int32_t domain = LeafDomain(leaf).value;
  for (auto l = static_cast<std::int32_t>(levels_.size()) - 1; l > level; --l) {
    domain = parent_[static_cast<std::size_t>(domain)];
  }
  return DomainId(domain);
}

std::int32_t FlavorSnapshot::block_count() const {
  const std::size_t depth = levels_.size();
  return depth > 1 ? level_begin_[depth - 1] - level_begin_[depth - 2]
                   : (leaf_count_ + kFlatBlock - 1) / kFlatBlock;
}

std::int32_t FlavorSnapshot::BlockOf(LeafId leaf) const {
  const std::size_t depth = levels_.size();
  if (depth == 1) return leaf.value / kFlatBlock;
  if (block_width_ > 0) return leaf.value / block_width_;
  return parent_[static_cast<std::size_t>(LeafDomain(leaf).value)] - level_begin_[depth - 2];
}

DomainRange FlavorSnapshot::BlockLeaves(std::int32_t block) const {
  const std::size_t depth = levels_.size();
  if (depth == 1) {
    return {block * kFlatBlock, std::min((block + 1) * kFlatBlock, leaf_count_)};
  }
  const auto parent = static_cast<std::size_t>(level_begin_[depth - 2] + block);
  return {child_begin_[parent] - level_begin_[depth - 1],
          child_begin_[parent + 1] - level_begin_[depth - 1]};
}

std::int32_t FlavorSnapshot::FindResource(std::string_view name) const {
  const auto it = std::ranges::lower_bound(resources(), name);
  return it != resources().end() && *it == name
             ? static_cast<std::int32_t>(it - resources().begin())
             : -1;
}

template <class Item>
std::shared_ptr<const Item> FlavorSnapshot::FindKept(const Kept<Item>& kept,
                                                     const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = kept.find(key);
  return it == kept.end() ? nullptr : it->second;
}

template <class Item>
std::shared_ptr<const Item> FlavorSnapshot::Keep(Kept<Item>& kept, std::string key, Item value,
                                                 std::int64_t bytes, WorkBudget& budget) const {
  struct Owned {
    Item value;
    MemoryHold hold;
  };
  const auto owned = std::make_shared<const Owned>(Owned{std::move(value), budget.HandOver(bytes)});
  const std::lock_guard lock(mutex_);
  if (kept_bytes_ + bytes > kMostKeptBytes || kept.size() >= kMostKeptEntries) {
    filters_.clear();
    shapes_.clear();
    kept_bytes_ = 0;
  }
  const auto [it, fresh] =
      kept.emplace(std::move(key), std::shared_ptr<const Item>(owned, &owned->value));
  if (fresh) kept_bytes_ += bytes;
  return it->second;
}

std::int64_t FlavorSnapshot::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return kept_bytes_;
}

std::shared_ptr<const NodeFilter> FlavorSnapshot::Filter(const NodeConstraints& constraints,
                                                         WorkBudget& budget) const {
  std::string key = constraints.Key();
  if (auto kept = FindKept(filters_, key)) return kept;
  NodeFilter filter = EvaluateFilter(constraints, *nodes_, node_of_, tree(), budget);
  budget.Charge(static_cast<std::int64_t>(key.size()));
  if (budget.stopped()) return std::make_shared<const NodeFilter>(std::move(filter));
  const std::int64_t bytes = filter.Bytes() + static_cast<std::int64_t>(key.size());
  return Keep(filters_, std::move(key), std::move(filter), bytes, budget);
}

std::shared_ptr<const Shape> FlavorSnapshot::Intern(Shape shape, WorkBudget& budget) const {
  std::string key = shape.Key();
  if (auto kept = FindKept(shapes_, key)) return kept;
  const std::int64_t bytes = shape.Bytes() + static_cast<std::int64_t>(key.size());
  if (!budget.Charge(bytes)) return std::make_shared<const Shape>(std::move(shape));
  return Keep(shapes_, std::move(key), std::move(shape), bytes, budget);
}

}  // namespace espalier
