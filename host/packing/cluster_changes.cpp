// Makes a state follow changes of its input without being built anew.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/packing/cluster_state.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

std::optional<NodePlace> PlaceOf(const FlavorSnapshot& flavor, const Node* node) {
  return node == nullptr ? std::nullopt : flavor.PlaceOf(*node);
}

// The effects of changed nodes on the leaves of one flavor.
class FlavorMoves {
 public:
  FlavorMoves(const StateChange& change, const FlavorSnapshot& flavor) : flavor_(flavor) {
    for (const StateChange::OfNode& node : change.nodes) {
      const std::optional<NodePlace> before = PlaceOf(flavor, node.before);
      std::optional<NodePlace> after = PlaceOf(flavor, node.after);
      if (before) Count(before->leaf, -1);
      if (!after) continue;
      if (after->leaf.valid()) {
        Count(after->leaf, 1);
      } else {
        ++joined_[std::move(after->path)];
      }
    }
    if (!nodes_after_.empty() || !joined_.empty()) FindVacant();
  }

  // Returns whether the leaves can follow: only packing tells nodes of one hostname apart (R4.4),
  // and finds out about labels that no node had.
  bool CanFollow() const {
    if (unknown_) return false;
    if (nodes_after_.empty() && joined_.empty()) return true;
    if (flavor_.leaf_nodes().IsFull(nodes_after_.size() + joined_.size())) return false;
    const auto leaves =
        static_cast<std::size_t>(flavor_.leaf_count()) - vacant_.size() + joined_.size();
    if (flavor_.leaf_count() == 0 || leaves == 0) return false;
    return !flavor_.host_topology() || HostnamesAreDistinct();
  }

  // Returns whether leaves come, or so many go that a domain is empty.
  bool Moves() const { return !joined_.empty() || empties_domain_; }

  // Returns the ids of the leaves that come.
  std::vector<std::string> JoinedIds() const {
    std::vector<std::string> ids;
    for (const auto& [path, nodes] : joined_) {
      ids.push_back(flavor_.host_topology() ? path.back()
                                            : fmt::format("{}", fmt::join(path, ",")));
    }
    return ids;
  }

  // Returns the tree after it, where it Moves().
  FlavorTree::Edited Edit() const {
    std::vector<std::vector<std::string>> paths;
    for (const auto& [path, nodes] : joined_) paths.push_back(path);
    return flavor_.flavor_tree().Edit(vacant_, paths);
  }

 private:
  void Count(LeafId leaf, std::int32_t nodes) {
    if (!leaf.valid()) {
      unknown_ = true;
      return;
    }
    nodes_after_.try_emplace(leaf.value, flavor_.leaf_nodes().CountOn(leaf)).first->second += nodes;
  }

  std::int32_t NodesAfter(LeafId leaf) const {
    const auto changed = nodes_after_.find(leaf.value);
    return changed != nodes_after_.end() ? changed->second : flavor_.leaf_nodes().CountOn(leaf);
  }

  void FindVacant() {
    for (const std::int32_t leaf : flavor_.leaf_nodes().vacant()) {
      if (!nodes_after_.contains(leaf)) vacant_.push_back(leaf);
    }
    for (const auto& [leaf, nodes] : nodes_after_) {
      if (nodes == 0) vacant_.push_back(leaf);
    }
    std::ranges::sort(vacant_);
    if (flavor_.levels().size() == 1) return;
    for (const auto& [leaf, nodes] : nodes_after_) {
      if (nodes > 0) continue;
      const DomainRange group = flavor_.GroupLeaves(flavor_.GroupOf(LeafId(leaf)));
      const auto first = std::ranges::lower_bound(vacant_, group.begin);
      const auto end = std::ranges::lower_bound(vacant_, group.end);
      if (end - first == group.size()) empties_domain_ = true;
    }
  }

  bool HostnamesAreDistinct() const {
    for (const auto& [leaf, nodes] : nodes_after_) {
      if (nodes > 1 || flavor_.leaf_nodes().CountOn(LeafId(leaf)) > 1) return false;
    }
    std::set<std::string_view> seen;
    for (const auto& [path, nodes] : joined_) {
      if (nodes > 1 || !seen.insert(path.back()).second) return false;
      const LeafId other = flavor_.FindLeafOrVacant(path.back());
      if (other.valid() && NodesAfter(other) > 0) return false;
    }
    return true;
  }

  const FlavorSnapshot& flavor_;
  std::map<std::int32_t, std::int32_t> nodes_after_;         // by leaf, where nodes come or go
  std::map<std::vector<std::string>, std::int32_t> joined_;  // nodes by path
  std::vector<std::int32_t> vacant_;                         // leaves after it, ascending
  bool unknown_ = false;  // a node that goes does not stand where it should
  bool empties_domain_ = false;
};

// Returns whether a node stands where it stood, and filters see no difference.
bool Stays(const StateChange::OfNode& node, const FlavorSnapshot& flavor) {
  const std::optional<NodePlace> before = PlaceOf(flavor, node.before);
  const std::optional<NodePlace> after = PlaceOf(flavor, node.after);
  return before && after && before->path == after->path &&
         (!flavor.host_topology() ||
          (node.before->labels == node.after->labels && node.before->taints == node.after->taints));
}

// Collects what some nodes do to a flavor when they come or go.
class NodesOfFlavor {
 public:
  explicit NodesOfFlavor(FlavorState& flavor) : flavor_(flavor) {}

  void AddCapacity(LeafId leaf, const Node& node, const Resources* used, Amount sign) {
    capacity_.push_back({leaf, &node.allocatable, sign});
    if (used != nullptr) capacity_.push_back({leaf, used, -sign});
  }

  // Notes that so many nodes come to a leaf, of which `node` is the last one.
  void Stand(LeafId leaf, std::int32_t nodes, const Node* node) {
    const auto known = standing_.try_emplace(
        leaf.value,
        LeafNodes::Change{leaf, flavor_.snapshot().leaf_nodes().CountOn(leaf), nullptr});
    LeafNodes::Change& on_leaf = known.first->second;
    on_leaf.nodes += nodes;
    if (node != nullptr && flavor_.snapshot().host_topology()) {
      on_leaf.node = std::make_shared<const Node>(*node);
    }
  }

  // Makes the changes.
  void Finish() {
    flavor_.ChangeCapacity(capacity_);
    if (standing_.empty()) return;
    std::vector<LeafNodes::Change> changes;
    std::vector<LeafId> leaves;
    for (auto& [leaf, on_leaf] : standing_) {
      leaves.push_back(on_leaf.leaf);
      changes.push_back(std::move(on_leaf));
    }
    const FlavorSnapshot& snapshot = flavor_.snapshot();
    flavor_.SetNodes(snapshot.With(snapshot.leaf_nodes().With(std::move(changes))), leaves);
  }

 private:
  FlavorState& flavor_;
  std::vector<CapacityChange> capacity_;
  std::map<std::int32_t, LeafNodes::Change> standing_;  // by leaf
};

}  // namespace

bool ClusterState::CanApply(const StateChange& change) const {
  Amount magnitude = 0;  // of all that comes and goes
  const auto add = [&](const Resources* amounts) {
    if (amounts == nullptr) return;
    for (const auto& [name, amount] : *amounts) {
      magnitude = SaturatingAdd(magnitude, Magnitude(amount));
    }
  };
  const auto has_column = [&](const auto& amount) {
    return flavors_.empty() || flavors_[0]->snapshot().FindResource(amount.first) >= 0;
  };
  for (const StateChange::Usage& usage : change.usage) {
    add(usage.before);
    add(usage.after);
  }
  for (const StateChange::OfNode& node : change.nodes) {
    if (node.before != nullptr) add(&node.before->allocatable);
    if (node.after != nullptr) {
      add(&node.after->allocatable);
      if (!std::ranges::all_of(node.after->allocatable, has_column)) return false;
    }
    add(node.used_before);
    add(node.used_after);
  }
  for (const auto& flavor : flavors_) {
    const FlavorMoves moves(change, flavor->snapshot());
    if (!flavor->IsExact() || !moves.CanFollow()) return false;
    if (moves.Moves() && flavor->remaining().sparse()) return false;
    for (const std::string& id : moves.JoinedIds()) {
      for (const auto& owner : flavors_) add(change.usage_on(owner->snapshot().flavor().name, id));
    }
  }
  return magnitude < FlavorState::kExact;
}

bool ClusterState::MovesLeaves(const StateChange& change) const {
  return std::ranges::any_of(flavors_, [&](const auto& flavor) {
    return FlavorMoves(change, flavor->snapshot()).Moves();
  });
}

Result<void> ClusterState::Apply(const StateChange& change, bool shared, WorkBudget& budget) {
  ChangeUsage(change, shared);
  if (change.nodes.empty()) return {};
  const std::int64_t charged_before = budget.charged();
  if (MovesLeaves(change)) StartSpares();
  for (auto& flavor : flavors_) {
    std::unique_ptr<FlavorState> moved;
    if (auto done = ChangeNodes(change, *flavor, shared, budget, moved); !done) {
      return tl::unexpected(done.error());
    }
    if (moved != nullptr) flavor = std::move(moved);
  }
  memory_.Add(budget.HandOver(budget.charged() - charged_before));
  return {};
}

// Changes the usage of every flavor that sees it: its own, and where `shared`, all on hosts for
// usage of a flavor on hosts (R5.6).
void ClusterState::ChangeUsage(const StateChange& change, bool shared) {
  const Resources none;
  std::vector<std::string_view> ids;
  std::vector<const StateChange::Usage*> seen;
  std::vector<LeafId> leaves;
  std::vector<LeafChange> changes;
  for (const auto& flavor : flavors_) {
    const FlavorSnapshot& snapshot = flavor->snapshot();
    ids.clear();
    seen.clear();
    changes.clear();
    std::string_view last;  // the flavor of the usage before, and whether this one sees it
    bool sees = false;
    for (const StateChange::Usage& usage : change.usage) {
      if (last.data() == nullptr || usage.flavor != last) {
        last = usage.flavor;
        sees = last == snapshot.flavor().name;
        if (!sees && shared && snapshot.host_topology()) {
          const FlavorState* owner = Find(last);
          sees = owner != nullptr && owner->snapshot().host_topology();
        }
      }
      if (!sees) continue;
      ids.push_back(usage.leaf);
      seen.push_back(&usage);
    }
    leaves.assign(ids.size(), LeafId());
    snapshot.FindLeavesOrVacant(ids, leaves);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      if (!leaves[i].valid()) continue;
      const Resources* after = seen[i]->after;
      // Nothing saturates, as CanApply says.
      changes.push_back({leaves[i], after != nullptr ? after : &none, seen[i]->before});
    }
    if (!changes.empty()) flavor->Add(changes);
  }
}

// `moved` gets the state that takes the place of `flavor` where leaves come or go.
Result<void> ClusterState::ChangeNodes(const StateChange& change, FlavorState& flavor, bool shared,
                                       WorkBudget& budget, std::unique_ptr<FlavorState>& moved) {
  std::optional<FlavorTree::Edited> edited;
  if (const FlavorMoves moves(change, flavor.snapshot()); moves.Moves()) edited = moves.Edit();
  NodesOfFlavor go(flavor);
  for (const StateChange::OfNode& node : change.nodes) {
    const auto place = PlaceOf(flavor.snapshot(), node.before);
    if (!place) continue;
    go.AddCapacity(place->leaf, *node.before, node.used_before, -1);
    if (!Stays(node, flavor.snapshot())) go.Stand(place->leaf, -1, nullptr);
  }
  go.Finish();
  if (edited) {
    moved = flavor.On(*edited, budget);
    if (auto check = budget.Check(); !check) return check;
    AddUsageOnJoined(change, shared, edited->joined, *moved);
  }
  FlavorState& now = moved != nullptr ? *moved : flavor;
  NodesOfFlavor come(now);
  for (const StateChange::OfNode& node : change.nodes) {
    const auto place = PlaceOf(now.snapshot(), node.after);
    if (!place) continue;
    come.AddCapacity(place->leaf, *node.after, node.used_after, 1);
    if (!Stays(node, now.snapshot())) come.Stand(place->leaf, 1, node.after);
  }
  come.Finish();
  return {};
}

void ClusterState::AddUsageOnJoined(const StateChange& change, bool shared,
                                    std::span<const LeafId> joined, FlavorState& flavor) const {
  const FlavorSnapshot& snapshot = flavor.snapshot();
  for (const LeafId leaf : joined) {
    const std::string id = snapshot.LeafIdText(leaf);
    for (const auto& owner : flavors_) {
      const FlavorSnapshot& other = owner->snapshot();
      const bool sees = other.flavor().name == snapshot.flavor().name ||
                        (shared && snapshot.host_topology() && other.host_topology());
      const Resources* usage = sees ? change.usage_on(other.flavor().name, id) : nullptr;
      if (usage != nullptr) flavor.Add(leaf, *usage);
    }
  }
}

}  // namespace espalier
