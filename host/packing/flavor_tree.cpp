#include "host/packing/flavor_tree.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace espalier {

// Collects domains level by level while leaves are given in path order.
class FlavorTree::Builder {
 public:
  explicit Builder(FlavorTree& tree, std::size_t leaves)
      : tree_(tree), first_leaf_(tree.levels_.size()), values_(tree.levels_.size()) {
    first_leaf_.back().reserve(leaves);
    values_.back().reserve(leaves);
  }

  // Adds a leaf whose path differs from that of the one before at level `changed` first.
  template <class ValueAtLevel>
  void Add(std::size_t changed, const ValueAtLevel& value_at) {
    for (std::size_t level = changed; level < first_leaf_.size(); ++level) {
      first_leaf_[level].push_back(tree_.leaf_count_);
      values_[level].push_back(value_at(level));
    }
    ++tree_.leaf_count_;
  }

  void Finish() {
    tree_.level_begin_.assign(1, 0);
    for (const auto& level : first_leaf_) {
      tree_.level_begin_.push_back(tree_.level_begin_.back() +
                                   static_cast<std::int32_t>(level.size()));
    }
    const auto domains = static_cast<std::size_t>(tree_.level_begin_.back());
    tree_.value_of_.reserve(domains);
    tree_.parent_.reserve(domains);
    for (std::size_t level = 0; level < first_leaf_.size(); ++level) {
      tree_.value_of_.insert(tree_.value_of_.end(), values_[level].begin(), values_[level].end());
      AddParents(level);
    }
    const std::int32_t inner = tree_.level_begin_[first_leaf_.size() - 1];
    tree_.child_begin_.assign(static_cast<std::size_t>(inner) + 1, tree_.level_begin_.back());
    for (std::int32_t d = tree_.level_begin_.back(); d-- > tree_.level_begin_[1];) {
      tree_.child_begin_[static_cast<std::size_t>(tree_.parent_[static_cast<std::size_t>(d)])] = d;
    }
    tree_.MeasureGroups();
  }

 private:
  void AddParents(std::size_t level) {
    std::size_t above = 0;  // position in the level above
    for (const std::int32_t leaf : first_leaf_[level]) {
      if (level == 0) {
        tree_.parent_.push_back(-1);
        continue;
      }
      const auto& parents = first_leaf_[level - 1];
      while (above + 1 < parents.size() && parents[above + 1] <= leaf) ++above;
      tree_.parent_.push_back(tree_.level_begin_[level - 1] + static_cast<std::int32_t>(above));
    }
  }

  FlavorTree& tree_;
  std::vector<std::vector<std::int32_t>> first_leaf_;  // [levels][domains]
  std::vector<std::vector<std::int32_t>> values_;      // likewise
};

FlavorTree::FlavorTree(std::vector<std::string> levels, std::shared_ptr<const NodeColumns> nodes,
                       std::span<const std::int32_t> node_of_leaf)
    : levels_(std::move(levels)),
      host_topology_(levels_.back() == kHostnameLabel),
      nodes_(std::move(nodes)),
      later_values_(levels_.size()) {
  for (const std::string& key : levels_) labels_.push_back(nodes_->FindLabel(key));
  Builder builder(*this, node_of_leaf.size());
  const auto value_at = [&](std::size_t level, std::size_t leaf) {
    return labels_[level]->value_of[static_cast<std::size_t>(node_of_leaf[leaf])];
  };
  for (std::size_t leaf = 0; leaf < node_of_leaf.size(); ++leaf) {
    std::size_t changed = 0;
    while (leaf > 0 && changed + 1 < levels_.size() &&
           value_at(changed, leaf) == value_at(changed, leaf - 1)) {
      ++changed;
    }
    builder.Add(changed, [&](std::size_t level) { return value_at(level, leaf); });
  }
  builder.Finish();
}

FlavorTree::Edited FlavorTree::Edit(std::span<const std::int32_t> dropped,
                                    std::span<const std::vector<std::string>> joined) const {
  const std::shared_ptr<FlavorTree> tree(new FlavorTree());
  tree->levels_ = levels_;
  tree->host_topology_ = host_topology_;
  tree->nodes_ = nodes_;
  tree->labels_ = labels_;
  tree->later_values_ = later_values_;
  Edited edited;
  const std::size_t depth = levels_.size();
  Builder builder(*tree, static_cast<std::size_t>(leaf_count_) + joined.size());
  std::int32_t last = -1;                               // the leaf before, where it was here
  const std::vector<std::string>* last_path = nullptr;  // or has joined
  const auto keep = [&](std::int32_t leaf) {
    std::size_t changed = 0;
    std::int32_t domain = LeafDomain(LeafId(leaf)).value;
    if (last_path != nullptr) {
      changed = FirstDifference(LeafId(leaf), *last_path);
    } else if (last >= 0) {
      std::int32_t other = LeafDomain(LeafId(last)).value;
      changed = depth - 1;
      for (std::int32_t d = domain; changed > 0; --changed) {
        d = parent_[static_cast<std::size_t>(d)];
        other = parent_[static_cast<std::size_t>(other)];
        if (d == other) break;
      }
    }
    builder.Add(changed, [&](std::size_t level) {
      std::int32_t ancestor = domain;
      for (std::size_t l = depth - 1; l > level; --l) {
        ancestor = parent_[static_cast<std::size_t>(ancestor)];
      }
      return value_of_[static_cast<std::size_t>(ancestor)];
    });
    last = leaf;
    last_path = nullptr;
    LeafRun* const run = edited.runs.empty() ? nullptr : &edited.runs.back();
    if (run != nullptr && run->from + run->size == leaf &&
        run->to + run->size == tree->leaf_count_ - 1) {
      ++run->size;
    } else {
      edited.runs.push_back({leaf, tree->leaf_count_ - 1, 1});
    }
  };
  const auto join = [&](const std::vector<std::string>& path) {
    std::size_t changed = 0;
    if (last_path != nullptr) {
      while ((*last_path)[changed] == path[changed]) ++changed;
    } else if (last >= 0) {
      changed = FirstDifference(LeafId(last), path);
    }
    const std::vector<std::int32_t> values = tree->ValuesOf(path);
    builder.Add(changed, [&](std::size_t level) { return values[level]; });
    last_path = &path;
    edited.joined.push_back(LeafId(tree->leaf_count_ - 1));
  };
  auto next_dropped = dropped.begin();
  std::int32_t leaf = 0;
  const auto keep_before = [&](std::int32_t end) {
    for (; leaf < end; ++leaf) {
      if (next_dropped != dropped.end() && *next_dropped == leaf) {
        ++next_dropped;
      } else {
        keep(leaf);
      }
    }
  };
  for (const std::vector<std::string>& path : joined) {
    keep_before(LeavesBefore(path));
    join(path);
  }
  keep_before(leaf_count_);
  builder.Finish();
  tree->TakeOverIndex(*this, edited.runs, edited.joined);
  edited.tree = tree;
  return edited;
}

// Numbers the values of a path, those that no label of the nodes has behind them.
std::vector<std::int32_t> FlavorTree::ValuesOf(const std::vector<std::string>& path) {
  std::vector<std::int32_t> values;
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    std::int32_t value = labels_[level]->FindValue(path[level]);
    if (value < 0) {
      std::vector<std::string>& later = later_values_[level];
      const auto known = std::ranges::find(later, path[level]);
      value = static_cast<std::int32_t>(labels_[level]->values.size()) +
              static_cast<std::int32_t>(known - later.begin());
      if (known == later.end()) later.push_back(path[level]);
    }
    values.push_back(value);
  }
  return values;
}

const std::string& FlavorTree::ValueAt(std::size_t level, std::int32_t value) const {
  const std::vector<std::string>& values = labels_[level]->values;
  const auto at = static_cast<std::size_t>(value);
  return at < values.size() ? values[at] : later_values_[level][at - values.size()];
}

std::size_t FlavorTree::LevelOf(DomainId domain) const {
  std::size_t level = 0;
  while (level_begin_[level + 1] <= domain.value) ++level;
  return level;
}

const std::string& FlavorTree::Value(DomainId domain) const {
  return ValueAt(LevelOf(domain), value_of_[static_cast<std::size_t>(domain.value)]);
}

std::vector<std::string> FlavorTree::Path(DomainId domain) const {
  std::size_t level = LevelOf(domain);
  std::vector<std::string> path(level + 1);
  for (std::int32_t d = domain.value; d >= 0; d = parent_[static_cast<std::size_t>(d)]) {
    path[level] = ValueAt(level, value_of_[static_cast<std::size_t>(d)]);
    --level;
  }
  return path;
}

std::string FlavorTree::LeafIdText(LeafId leaf) const {
  const DomainId domain = LeafDomain(leaf);
  return host_topology_ ? Value(domain) : fmt::format("{}", fmt::join(Path(domain), ","));
}

DomainId FlavorTree::Ancestor(LeafId leaf, std::int32_t level) const {
  std::int32_t domain = LeafDomain(leaf).value;
  for (auto l = static_cast<std::int32_t>(levels_.size()) - 1; l > level; --l) {
    domain = parent_[static_cast<std::size_t>(domain)];
  }
  return DomainId(domain);
}

TreeView FlavorTree::view() const {
  return {static_cast<std::int32_t>(levels_.size()), level_begin_.data(), parent_.data(),
          child_begin_.data()};
}

std::int32_t FlavorTree::LowerBound(std::size_t level, std::int32_t begin, std::int32_t end,
                                    std::string_view value) const {
  const auto first = value_of_.begin();
  const auto found = std::lower_bound(
      first + begin, first + end, value,
      [&](std::int32_t a, std::string_view b) { return std::string_view(ValueAt(level, a)) < b; });
  return static_cast<std::int32_t>(found - first);
}

DomainId FlavorTree::FindRoot(std::string_view value) const {
  const std::int32_t found = LowerBound(0, 0, level_begin_[1], value);
  return found < level_begin_[1] && Value(DomainId(found)) == value ? DomainId(found) : DomainId();
}

LeafId FlavorTree::FindPath(std::span<const std::string> path) const {
  std::int32_t begin = 0;
  std::int32_t end = level_begin_[1];
  for (std::size_t level = 0;; ++level) {
    const std::int32_t found = LowerBound(level, begin, end, path[level]);
    if (found == end || ValueAt(level, value_of_[static_cast<std::size_t>(found)]) != path[level]) {
      return {};
    }
    if (level + 1 == levels_.size()) return LeafId(found - level_begin_[level]);
    begin = child_begin_[static_cast<std::size_t>(found)];
    end = child_begin_[static_cast<std::size_t>(found) + 1];
  }
}

// Returns how many leaves come before a path, which none of them has.
std::int32_t FlavorTree::LeavesBefore(std::span<const std::string> path) const {
  std::int32_t begin = 0;
  std::int32_t end = level_begin_[1];
  for (std::size_t level = 0;; ++level) {
    const std::int32_t found = LowerBound(level, begin, end, path[level]);
    const bool goes_down =
        level + 1 < levels_.size() && found < end &&
        ValueAt(level, value_of_[static_cast<std::size_t>(found)]) == path[level];
    if (goes_down) {
      begin = child_begin_[static_cast<std::size_t>(found)];
      end = child_begin_[static_cast<std::size_t>(found) + 1];
      continue;
    }
    std::int32_t first = found;  // of those that come behind
    for (std::size_t l = level; l + 1 < levels_.size(); ++l) {
      first = first == level_begin_[l + 1] ? level_begin_[l + 2]
                                           : child_begin_[static_cast<std::size_t>(first)];
    }
    return first - level_begin_[levels_.size() - 1];
  }
}

// Returns the first level at which a leaf is not on the path, which is another one's.
std::size_t FlavorTree::FirstDifference(LeafId leaf, std::span<const std::string> path) const {
  std::size_t first = levels_.size() - 1;
  std::int32_t domain = LeafDomain(leaf).value;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    if (ValueAt(level, value_of_[static_cast<std::size_t>(domain)]) != path[level]) first = level;
    domain = parent_[static_cast<std::size_t>(domain)];
  }
  return first;
}

std::int32_t FlavorTree::group_count() const {
  const std::size_t depth = levels_.size();
  return depth > 1 ? level_begin_[depth - 1] - level_begin_[depth - 2]
                   : (leaf_count_ + kFlatGroup - 1) / kFlatGroup;
}

std::int32_t FlavorTree::GroupOf(LeafId leaf) const {
  const std::size_t depth = levels_.size();
  if (depth == 1) return leaf.value / kFlatGroup;
  if (group_width_ > 0) return leaf.value / group_width_;
  return parent_[static_cast<std::size_t>(LeafDomain(leaf).value)] - level_begin_[depth - 2];
}

DomainRange FlavorTree::GroupLeaves(std::int32_t group) const {
  const std::size_t depth = levels_.size();
  if (depth == 1) {
    return {group * kFlatGroup, std::min((group + 1) * kFlatGroup, leaf_count_)};
  }
  const auto parent = static_cast<std::size_t>(level_begin_[depth - 2] + group);
  return {child_begin_[parent] - level_begin_[depth - 1],
          child_begin_[parent + 1] - level_begin_[depth - 1]};
}

void FlavorTree::MeasureGroups() {
  if (leaf_count_ == 0) return;
  group_width_ = GroupLeaves(0).size();
  for (std::int32_t group = 1; group < group_count(); ++group) {
    if (GroupLeaves(group).size() != group_width_) group_width_ = 0;
  }
}

LeafId FlavorTree::FindId(std::string_view id) const {
  std::call_once(leaves_indexed_, [this] { IndexLeaves(); });
  return LeafId(leaf_by_id_.Find(id, [this](std::int32_t leaf) { return IndexedId(leaf); }));
}

void FlavorTree::FindIds(std::span<const std::string_view> ids, std::span<LeafId> leaves) const {
  std::call_once(leaves_indexed_, [this] { IndexLeaves(); });
  leaf_by_id_.FindEach(ids, leaves, [this](std::int32_t leaf) { return IndexedId(leaf); });
}

void FlavorTree::IndexLeaves() const {
  if (indexed_) return;
  if (!host_topology_ && levels_.size() > 1) {
    joined_ids_.clear();  // of an earlier call that memory ran out in
    joined_ids_.reserve(static_cast<std::size_t>(leaf_count_));
    for (std::int32_t leaf = 0; leaf < leaf_count_; ++leaf) {
      joined_ids_.push_back(LeafIdText(LeafId(leaf)));
    }
  }
  leaf_by_id_ = NameIndex(static_cast<std::size_t>(leaf_count_));
  const auto id_at = [this](std::int32_t leaf) { return IndexedId(leaf); };
  for (std::int32_t leaf = 0; leaf < leaf_count_; ++leaf) leaf_by_id_.Add(leaf, id_at);
  indexed_ = true;
}

// Makes the index from that of the tree before, whose ids need not be hashed again. Called before
// anybody else knows this tree.
void FlavorTree::TakeOverIndex(const FlavorTree& before, std::span<const LeafRun> runs,
                               std::span<const LeafId> joined) {
  if (!host_topology_) return;
  before.FindId("");  // makes the index
  leaf_by_id_ = NameIndex(static_cast<std::size_t>(leaf_count_));
  leaf_by_id_.AddRenumbered(before.leaf_by_id_, [&](std::int32_t leaf) {
    const auto run = std::ranges::upper_bound(runs, leaf, {}, &LeafRun::from);
    if (run == runs.begin()) return -1;
    const LeafRun& last = *(run - 1);
    return leaf < last.from + last.size ? last.to + leaf - last.from : -1;
  });
  for (const LeafId leaf : joined) {
    leaf_by_id_.Add(leaf.value, [this](std::int32_t at) { return IndexedId(at); });
  }
  indexed_ = true;
}

std::string_view FlavorTree::IndexedId(std::int32_t leaf) const {
  if (!joined_ids_.empty()) return joined_ids_[static_cast<std::size_t>(leaf)];
  return ValueAt(levels_.size() - 1,
                 value_of_[static_cast<std::size_t>(LeafDomain(LeafId(leaf)).value)]);
}

std::int64_t FlavorTree::Bytes() const {
  const std::size_t numbers =
      level_begin_.size() + parent_.size() + child_begin_.size() + value_of_.size();
  const auto leaves = static_cast<std::size_t>(leaf_count_);
  // The index of the leaves is made when it is needed first; ids of several values are some 64
  // bytes.
  const std::size_t ids = host_topology_ || levels_.size() == 1 ? 0 : 64 * leaves;
  return static_cast<std::int64_t>(sizeof(*this) + numbers * sizeof(std::int32_t) +
                                   NameIndex::Bytes(leaves) + ids);
}

}  // namespace espalier
