#include "service/server/indexed_input.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

using Index = std::unordered_map<std::string, std::size_t>;

std::string KeyOf(const Node& node) { return node.name; }
std::string KeyOf(const NodeUsage& usage) { return usage.node; }
std::string KeyOf(const FlavorLeafUsage& usage) { return usage.flavor + '\0' + usage.leaf; }

// The memory that values take: about what they hold, and the entry of an index.
constexpr std::int64_t kBytesOfIndexEntry = 96;

std::int64_t BytesOf(std::string_view text) {
  return static_cast<std::int64_t>(sizeof(std::string) + text.size());
}
std::int64_t BytesOf(Amount /*amount*/) { return sizeof(Amount); }
template <class Value>
std::int64_t BytesOf(const FlatMap<Value>& map) {
  std::int64_t bytes = 0;
  for (const auto& [key, value] : map) bytes += BytesOf(key) + BytesOf(value);
  return bytes;
}
std::int64_t BytesOf(const Node& node) {
  std::int64_t bytes = kBytesOfIndexEntry + static_cast<std::int64_t>(sizeof(Node));
  bytes += 2 * BytesOf(node.name) + BytesOf(node.labels) + BytesOf(node.allocatable);
  for (const Taint& taint : node.taints) {
    bytes += BytesOf(taint.key) + BytesOf(taint.value) + BytesOf(taint.effect);
  }
  return bytes;
}
std::int64_t BytesOf(const NodeUsage& usage) {
  return kBytesOfIndexEntry + 2 * BytesOf(usage.node) + BytesOf(usage.usage);
}
std::int64_t BytesOf(const FlavorLeafUsage& usage) {
  return kBytesOfIndexEntry + 2 * (BytesOf(usage.flavor) + BytesOf(usage.leaf)) +
         BytesOf(usage.usage);
}

// What a key has no value for, as a change that takes it back.
void Forget(StateDelta& undo, Node node) { undo.remove_nodes.push_back(std::move(node.name)); }
void Forget(StateDelta& undo, NodeUsage usage) {
  usage.usage = {};
  undo.set_non_tas_usage.push_back(std::move(usage));
}
void Forget(StateDelta& undo, FlavorLeafUsage usage) {
  usage.usage = {};
  undo.set_tas_usage.push_back(std::move(usage));
}
// The value a key had.
void Restore(StateDelta& undo, Node node) { undo.upsert_nodes.push_back(std::move(node)); }
void Restore(StateDelta& undo, NodeUsage usage) {
  undo.set_non_tas_usage.push_back(std::move(usage));
}
void Restore(StateDelta& undo, FlavorLeafUsage usage) {
  undo.set_tas_usage.push_back(std::move(usage));
}

// The last of the values of each key.
template <class Value>
std::vector<Value> LastOfEach(std::vector<Value> values) {
  std::unordered_set<std::string> seen;
  std::ranges::reverse(values);
  std::erase_if(values, [&](const Value& value) { return !seen.insert(KeyOf(value)).second; });
  std::ranges::reverse(values);
  return values;
}

}  // namespace

// A list of values that are found by their keys. What takes each change back is noted in a delta,
// which is right where no key is changed twice.
template <class Value>
class IndexedInput::List {
 public:
  List(std::vector<Value>& values, Index& index, std::int64_t& bytes, StateDelta& undo)
      : values_(values), index_(index), bytes_(bytes), undo_(undo) {}

  // Adds the value or puts it in the place of the one with its key.
  void Put(Value value) {
    const auto [it, added] = index_.try_emplace(KeyOf(value), values_.size());
    bytes_ += BytesOf(value);
    if (added) {
      values_.push_back(std::move(value));
      Forget(undo_, values_.back());
    } else {
      bytes_ -= BytesOf(values_[it->second]);
      Restore(undo_, std::exchange(values_[it->second], std::move(value)));
    }
  }

  // The last value takes the place of the erased one. Unknown keys are left alone.
  void Erase(const std::string& key) {
    const auto it = index_.find(key);
    if (it == index_.end()) return;
    const std::size_t position = it->second;
    index_.erase(it);
    bytes_ -= BytesOf(values_[position]);
    std::swap(values_[position], values_.back());
    Restore(undo_, std::move(values_.back()));
    values_.pop_back();
    if (position != values_.size()) index_[KeyOf(values_[position])] = position;
  }

  // Empty usage is forgotten.
  void Set(Value usage) {
    if (usage.usage.empty()) {
      Erase(KeyOf(usage));
    } else {
      Put(std::move(usage));
    }
  }

 private:
  std::vector<Value>& values_;
  Index& index_;
  std::int64_t& bytes_;
  StateDelta& undo_;
};

template <class Usage>
void IndexedInput::Add(std::vector<Usage>& usages, Index& index, Usage usage) {
  const auto [it, added] = index.try_emplace(KeyOf(usage), usages.size());
  if (added) {
    bytes_ += BytesOf(usage);
    usages.push_back(std::move(usage));
  } else {
    bytes_ -= BytesOf(usages[it->second].usage);
    AddTo(usages[it->second].usage, usage.usage);
    bytes_ += BytesOf(usages[it->second].usage);
  }
}

IndexedInput::IndexedInput(ClusterStateInput input) : input_(std::move(input)) {
  for (std::size_t i = 0; i < input_.nodes.size(); ++i) {
    nodes_.emplace(input_.nodes[i].name, i);
    bytes_ += BytesOf(input_.nodes[i]);
  }
  for (NodeUsage& usage : std::exchange(input_.non_tas_usage, {})) {
    Add(input_.non_tas_usage, non_tas_usage_, std::move(usage));
  }
  AddTasUsage(std::exchange(input_.tas_usage, {}));
}

Result<StateDelta> IndexedInput::Apply(StateDelta delta) {
  std::unordered_set<std::string_view> removed;
  for (const std::string& name : delta.remove_nodes) {
    if (!nodes_.contains(name) || !removed.insert(name).second) {
      return BadInput(fmt::format(
          "update.remove_nodes: there is no node \"{}\" to remove; name loaded nodes, once each",
          Excerpt(name)));
    }
  }
  StateDelta undo;
  List nodes(input_.nodes, nodes_, bytes_, undo);
  for (const std::string& name : delta.remove_nodes) nodes.Erase(name);
  for (Node& node : LastOfEach(std::move(delta.upsert_nodes))) nodes.Put(std::move(node));
  List non_tas_usage(input_.non_tas_usage, non_tas_usage_, bytes_, undo);
  for (NodeUsage& usage : LastOfEach(std::move(delta.set_non_tas_usage))) {
    non_tas_usage.Set(std::move(usage));
  }
  List tas_usage(input_.tas_usage, tas_usage_, bytes_, undo);
  for (FlavorLeafUsage& usage : LastOfEach(std::move(delta.set_tas_usage))) {
    tas_usage.Set(std::move(usage));
  }
  return undo;
}

std::optional<ClusterState::Change> IndexedInput::ChangeFrom(const StateDelta& undo) const {
  if (!undo.remove_nodes.empty()) return std::nullopt;
  ClusterState::Change change;
  for (const Node& before : undo.upsert_nodes) {
    const auto now = nodes_.find(before.name);
    if (now == nodes_.end()) return std::nullopt;
    Node like_before = input_.nodes[now->second];
    std::swap(like_before.allocatable,
              change.capacity_after.emplace_back(now->second, Resources()).second);
    change.capacity_before.emplace_back(now->second, before.allocatable);
    like_before.allocatable = before.allocatable;
    if (like_before != before) return std::nullopt;
  }
  for (const NodeUsage& before : undo.set_non_tas_usage) {
    const auto node = nodes_.find(before.node);
    if (node == nodes_.end()) continue;
    const auto now = non_tas_usage_.find(before.node);
    // Usage that went is capacity that came.
    change.capacity_after.emplace_back(node->second, before.usage);
    if (now != non_tas_usage_.end()) {
      change.capacity_before.emplace_back(node->second, input_.non_tas_usage[now->second].usage);
    }
  }
  for (const FlavorLeafUsage& before : undo.set_tas_usage) {
    change.usage_before.push_back(before);
    const auto now = tas_usage_.find(KeyOf(before));
    if (now != tas_usage_.end()) change.usage_after.push_back(input_.tas_usage[now->second]);
  }
  return change;
}

void IndexedInput::AddTasUsage(const std::vector<FlavorLeafUsage>& usage) {
  for (const FlavorLeafUsage& leaf : usage) Add(input_.tas_usage, tas_usage_, leaf);
}

}  // namespace espalier
