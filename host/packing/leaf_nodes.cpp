#include "host/packing/leaf_nodes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace espalier {
namespace {

// Returns a node as the columns have it, but for what filters do not look at.
Node NodeOf(const NodeColumns& columns, std::int32_t position) {
  const auto at = static_cast<std::size_t>(position);
  Node node;
  node.name = columns.names[at];
  for (const LabelColumn& label : columns.labels) {
    const std::int32_t value = label.value_of[at];
    if (value >= 0) node.labels.Set(label.key, label.values[static_cast<std::size_t>(value)]);
  }
  node.taints = columns.taint_sets[static_cast<std::size_t>(columns.taint_set_of[at])];
  return node;
}

// Returns the values of `before`, an array by leaf, by new leaf numbers; leaves that have joined
// get `joined`.
std::shared_ptr<const std::vector<std::int32_t>> Renumbered(const std::vector<std::int32_t>& before,
                                                            const FlavorTree::Edited& edited,
                                                            std::int32_t joined) {
  auto after = std::make_shared<std::vector<std::int32_t>>(
      static_cast<std::size_t>(edited.tree->leaf_count()), joined);
  for (const LeafRun& run : edited.runs) {
    std::copy_n(before.begin() + run.from, run.size, after->begin() + run.to);
  }
  return after;
}

// Copies a run of bits into a bitmap in which they are 0, a word of that one at a time.
void CopyBits(const std::vector<std::uint64_t>& from, const LeafRun& run,
              std::vector<std::uint64_t>& to) {
  const auto bits_at = [&](std::int32_t leaf) {  // 64 bits from there on
    const auto word = static_cast<std::size_t>(leaf) / 64;
    const int shift = leaf % 64;
    const std::uint64_t high = shift == 0 || word + 1 == from.size() ? 0 : from[word + 1];
    return shift == 0 ? from[word] : from[word] >> shift | high << (64 - shift);
  };
  for (std::int32_t done = 0; done < run.size;) {
    const std::int32_t at = run.to + done;
    const std::int32_t bits = std::min(64 - at % 64, run.size - done);
    const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
    to[static_cast<std::size_t>(at) / 64] |= (bits_at(run.from + done) & mask) << (at % 64);
    done += bits;
  }
}

}  // namespace

LeafNodes::LeafNodes(std::shared_ptr<const NodeColumns> columns, std::vector<std::int32_t> node_of,
                     std::vector<std::int32_t> counts)
    : columns_(std::move(columns)),
      node_of_(std::make_shared<const std::vector<std::int32_t>>(std::move(node_of))),
      counts_(std::make_shared<const std::vector<std::int32_t>>(std::move(counts))),
      node_count_(counts_->empty()
                      ? static_cast<std::int64_t>(node_of_->size())
                      : std::accumulate(counts_->begin(), counts_->end(), std::int64_t{0})) {}

std::int32_t LeafNodes::PackedCount(std::int32_t leaf) const {
  if ((*node_of_)[static_cast<std::size_t>(leaf)] < 0) return 0;
  return counts_->empty() ? 1 : (*counts_)[static_cast<std::size_t>(leaf)];
}

const LeafNodes::Change* LeafNodes::FindChange(std::int32_t leaf) const {
  const auto found = std::ranges::lower_bound(changed_, LeafId(leaf), {}, &Change::leaf);
  return found != changed_.end() && found->leaf.value == leaf ? &*found : nullptr;
}

std::int32_t LeafNodes::CountOn(LeafId leaf) const {
  const Change* change = FindChange(leaf.value);
  return change != nullptr ? change->nodes : PackedCount(leaf.value);
}

bool LeafNodes::IsVacant(LeafId leaf) const {
  return std::ranges::binary_search(vacant_, leaf.value);
}

bool LeafNodes::IsAsPacked(const Change& change) const {
  const std::int32_t packed = PackedCount(change.leaf.value);
  if (packed == 0 || packed != change.nodes) return false;
  if (change.node == nullptr) return true;
  const Node node = NodeOf(*columns_, (*node_of_)[static_cast<std::size_t>(change.leaf.value)]);
  return node.name == change.node->name && node.labels == change.node->labels &&
         node.taints == change.node->taints;
}

void LeafNodes::FindVacant() {
  vacant_.clear();
  for (const Change& change : changed_) {
    if (change.nodes == 0) vacant_.push_back(change.leaf.value);
  }
  occupied_ = nullptr;
  if (vacant_.empty()) return;
  NodeFilter filter;
  filter.matches = AllLeaves(node_of_->size());
  for (const std::int32_t leaf : vacant_) {
    filter.matches[static_cast<std::size_t>(leaf) / 64] &= ~(std::uint64_t{1} << (leaf % 64));
  }
  occupied_ = std::make_shared<const NodeFilter>(std::move(filter));
}

std::shared_ptr<const LeafNodes> LeafNodes::With(std::vector<Change> changes) const {
  const std::shared_ptr<LeafNodes> after(new LeafNodes());
  after->columns_ = columns_;
  after->node_of_ = node_of_;
  after->counts_ = counts_;
  after->node_count_ = node_count_;
  std::ranges::sort(changes, {}, &Change::leaf);
  after->changed_.reserve(changed_.size() + changes.size());
  auto kept = changed_.begin();
  for (Change& change : changes) {
    for (; kept != changed_.end() && kept->leaf < change.leaf; ++kept) {
      after->changed_.push_back(*kept);
    }
    if (kept != changed_.end() && kept->leaf == change.leaf) ++kept;
    after->node_count_ += change.nodes - CountOn(change.leaf);
    if (!IsAsPacked(change)) after->changed_.push_back(std::move(change));
  }
  after->changed_.insert(after->changed_.end(), kept, changed_.end());
  after->FindVacant();
  return after;
}

std::shared_ptr<const LeafNodes> LeafNodes::Moved(const FlavorTree::Edited& edited) const {
  const std::shared_ptr<LeafNodes> after(new LeafNodes());
  after->columns_ = columns_;
  after->node_of_ = Renumbered(*node_of_, edited, -1);
  after->counts_ = counts_->empty() ? counts_ : Renumbered(*counts_, edited, 0);
  after->node_count_ = node_count_;
  for (const Change& change : changed_) {
    const auto run = std::ranges::upper_bound(edited.runs, change.leaf.value, {}, &LeafRun::from);
    if (run == edited.runs.begin()) continue;
    const LeafRun& last = *(run - 1);
    if (change.leaf.value >= last.from + last.size) continue;
    after->changed_.push_back(change);
    after->changed_.back().leaf = LeafId(last.to + change.leaf.value - last.from);
  }
  for (const LeafId leaf : edited.joined) after->changed_.push_back({leaf, 0, nullptr});
  std::ranges::sort(after->changed_, {}, &Change::leaf);
  after->FindVacant();
  return after;
}

// Returns the node of a leaf; null where the leaf is vacant.
std::shared_ptr<const Node> LeafNodes::NodeAt(std::int32_t leaf) const {
  if (const Change* change = FindChange(leaf)) return change->node;
  const std::int32_t position = (*node_of_)[static_cast<std::size_t>(leaf)];
  return position < 0 ? nullptr : std::make_shared<const Node>(NodeOf(*columns_, position));
}

NodeFilter LeafNodes::Evaluate(const NodeConstraints& constraints, const TreeView& tree,
                               WorkBudget& budget) const {
  NodeFilter filter = EvaluateFilter(constraints, *columns_, *node_of_, tree, budget);
  if (budget.stopped() || changed_.empty()) return filter;
  FilterChanges follow(constraints, tree, filter);
  for (const Change& change : changed_) {
    const std::int32_t position = (*node_of_)[static_cast<std::size_t>(change.leaf.value)];
    const auto packed =
        position < 0 ? std::nullopt : std::optional<Node>(NodeOf(*columns_, position));
    follow.Change(change.leaf.value, packed ? &*packed : nullptr, change.node.get());
  }
  follow.Finish(!vacant_.empty());
  return filter;
}

void LeafNodes::Follow(const LeafNodes& before, const NodeConstraints& constraints,
                       const TreeView& tree, NodeFilter& filter) const {
  FilterChanges follow(constraints, tree, filter);
  const auto visit = [&](std::int32_t leaf) {
    const std::shared_ptr<const Node> was = before.NodeAt(leaf);
    const std::shared_ptr<const Node> is = NodeAt(leaf);
    if (was != is) follow.Change(leaf, was.get(), is.get());
  };
  auto old = before.changed_.begin();
  for (const Change& change : changed_) {
    for (; old != before.changed_.end() && old->leaf < change.leaf; ++old) visit(old->leaf.value);
    const bool both = old != before.changed_.end() && old->leaf == change.leaf;
    if (!both || old->node != change.node) visit(change.leaf.value);
    if (both) ++old;
  }
  for (; old != before.changed_.end(); ++old) visit(old->leaf.value);
  follow.Finish(!vacant_.empty());
}

void LeafNodes::MoveMatches(const FlavorTree::Edited& edited, NodeFilter& filter) const {
  if (filter.matches.empty()) {
    if (occupied_ != nullptr) filter.matches = occupied_->matches;
    return;
  }
  std::vector<std::uint64_t> moved((node_of_->size() + 63) / 64, 0);
  for (const LeafRun& run : edited.runs) CopyBits(filter.matches, run, moved);
  filter.matches = std::move(moved);
}

std::int64_t LeafNodes::Bytes() const {
  return static_cast<std::int64_t>((node_of_->size() + counts_->size()) * sizeof(std::int32_t) +
                                   changed_.size() * (sizeof(Change) + sizeof(Node)));
}

}  // namespace espalier
