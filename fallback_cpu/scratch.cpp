#include "fallback_cpu/scratch.hpp"

#include <algorithm>

namespace espalier {
namespace {

constexpr std::size_t kFirstStates = std::size_t{1} << 14;
constexpr std::size_t kMostStates = std::size_t{1} << 26;  // 1.6 GiB

template <class T>
void GrowTo(std::vector<T>& items, std::size_t size) {
  if (items.size() < size) items.resize(size);
}

}  // namespace

Workspace Scratch::Get(const TreeView& tree, bool balanced) {
  std::int32_t widest = 1;
  for (std::int32_t l = 0; l < tree.level_count; ++l) {
    widest = std::max(widest, tree.LevelEnd(l) - tree.LevelBegin(l));
  }
  const auto width = static_cast<std::size_t>(widest);
  GrowTo(level_, width);
  GrowTo(chosen_, width);
  GrowTo(current_, width);
  GrowTo(next_, width);
  Workspace workspace;
  workspace.level = level_.data();
  workspace.chosen = chosen_.data();
  workspace.current = current_.data();
  workspace.next = next_.data();
  if (!balanced) return workspace;
  trial_.Resize(tree.domain_count(), true, true);
  best_.Resize(tree.domain_count(), true, true);
  GrowTo(entropy_, width);
  GrowTo(terms_, width);
  GrowTo(states_, kFirstStates);
  GrowTo(state_heads_, 2 * (width + 1));
  workspace.trial = trial_.View();
  workspace.best = best_.View();
  workspace.entropy = entropy_.data();
  workspace.terms = terms_.data();
  workspace.states = states_.data();
  workspace.state_capacity = static_cast<std::int32_t>(states_.size());
  workspace.state_heads = state_heads_.data();
  return workspace;
}

bool Scratch::GrowStates() {
  if (states_.size() >= kMostStates) return false;
  states_.resize(states_.size() * 4);
  return true;
}

}  // namespace espalier
