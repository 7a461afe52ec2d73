#include "service/server/indexed_input.hpp"

#include <unordered_set>
#include <utility>

#include <fmt/format.h>

namespace espalier {
namespace {

using Index = std::unordered_map<std::string, std::size_t>;

std::string KeyOf(const Node& node) { return node.name; }
std::string KeyOf(const NodeUsage& usage) { return usage.node; }
std::string KeyOf(const FlavorLeafUsage& usage) { return usage.flavor + '\0' + usage.leaf; }

template <class Value>
void Put(std::vector<Value>& values, Index& index, Value value) {
  const auto [it, added] = index.try_emplace(KeyOf(value), values.size());
  if (added) {
    values.push_back(std::move(value));
  } else {
    values[it->second] = std::move(value);
  }
}

template <class Usage>
void Add(std::vector<Usage>& usages, Index& index, Usage usage) {
  const auto [it, added] = index.try_emplace(KeyOf(usage), usages.size());
  if (added) {
    usages.push_back(std::move(usage));
  } else {
    AddTo(usages[it->second].usage, usage.usage);
  }
}

// The last value takes the place of the erased one. Unknown keys are left alone.
template <class Value>
void Erase(std::vector<Value>& values, Index& index, const std::string& key) {
  const auto it = index.find(key);
  if (it == index.end()) return;
  const std::size_t position = it->second;
  index.erase(it);
  if (position + 1 != values.size()) {
    values[position] = std::move(values.back());
    index[KeyOf(values[position])] = position;
  }
  values.pop_back();
}

template <class Usage>
void Set(std::vector<Usage>& usages, Index& index, Usage usage) {
  if (usage.usage.empty()) {
    Erase(usages, index, KeyOf(usage));
  } else {
    Put(usages, index, std::move(usage));
  }
}

}  // namespace

IndexedInput::IndexedInput(ClusterStateInput input) : input_(std::move(input)) {
  for (std::size_t i = 0; i < input_.nodes.size(); ++i) nodes_.emplace(input_.nodes[i].name, i);
  for (NodeUsage& usage : std::exchange(input_.non_tas_usage, {})) {
    Add(input_.non_tas_usage, non_tas_usage_, std::move(usage));
  }
  AddTasUsage(std::exchange(input_.tas_usage, {}));
}

Result<void> IndexedInput::Apply(StateDelta delta) {
  std::unordered_set<std::string_view> removed;
  for (const std::string& name : delta.remove_nodes) {
    if (!nodes_.contains(name) || !removed.insert(name).second) {
      return BadInput(fmt::format(
          "update.remove_nodes: there is no node \"{}\" to remove; name loaded nodes, once each",
          name));
    }
  }
  for (const std::string& name : delta.remove_nodes) Erase(input_.nodes, nodes_, name);
  for (Node& node : delta.upsert_nodes) Put(input_.nodes, nodes_, std::move(node));
  for (NodeUsage& usage : delta.set_non_tas_usage) {
    Set(input_.non_tas_usage, non_tas_usage_, std::move(usage));
  }
  for (FlavorLeafUsage& usage : delta.set_tas_usage) {
    Set(input_.tas_usage, tas_usage_, std::move(usage));
  }
  return {};
}

void IndexedInput::AddTasUsage(const std::vector<FlavorLeafUsage>& usage) {
  for (const FlavorLeafUsage& leaf : usage) Add(input_.tas_usage, tas_usage_, leaf);
}

}  // namespace espalier
