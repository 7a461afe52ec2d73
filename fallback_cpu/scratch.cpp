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

void CountsStorage::Resize(std::int32_t domains, bool with_slices, bool with_leader) {
  const auto size = static_cast<std::size_t>(domains);
  with_slices_ = with_slices;
  with_leader_ = with_leader;
  GrowTo(pods_, size);
  if (with_slices) GrowTo(slices_, size);
  if (!with_leader) return;
  GrowTo(pods_with_leader_, size);
  if (with_slices) GrowTo(slices_with_leader_, size);
  GrowTo(leaders_, size);
}

CountsView CountsStorage::View() {
  CountsView view;
  view.pods = pods_.data();
  view.slices = with_slices_ ? slices_.data() : view.pods;
  view.pods_with_leader = with_leader_ ? pods_with_leader_.data() : view.pods;
  view.slices_with_leader =
      with_leader_ ? (with_slices_ ? slices_with_leader_.data() : view.pods_with_leader)
                   : view.slices;
  view.leaders = with_leader_ ? leaders_.data() : nullptr;
  return view;
}

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
