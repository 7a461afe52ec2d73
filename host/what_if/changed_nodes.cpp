#include "host/what_if/changed_nodes.hpp"

#include <utility>

namespace espalier {

void ChangedNodes::IndexNodes() {
  if (!nodes_.empty()) return;
  nodes_.reserve(input_.nodes.size());
  for (const Node& node : input_.nodes) nodes_.emplace(node.name, &node);
  for (const NodeUsage& usage : input_.non_tas_usage) other_usage_.emplace(usage.node, &usage);
}

const Resources* ChangedNodes::OtherUsageOf(std::string_view node) const {
  const auto used = other_usage_.find(node);
  return used == other_usage_.end() ? nullptr : &used->second->usage;
}

Result<ClusterState> ChangedNodes::Apply(StateChange change,
                                         const std::function<ClusterStateInput()>& changed,
                                         WorkBudget& budget) {
  change.usage_on = [this](std::string_view flavor, std::string_view leaf) -> const Resources* {
    if (!usage_) usage_.emplace().Add(input_.tas_usage, 1);
    return usage_->Of(flavor, leaf);
  };
  if (!state_.CanApply(change)) return ClusterState::Build(changed(), budget);
  Result<ClusterState> branch = state_.Branch(budget);
  if (!branch) return branch;
  if (auto applied = branch->Apply(change, input_.share_usage_between_flavors, budget); !applied) {
    return tl::unexpected(applied.error());
  }
  return branch;
}

Result<ClusterState> ChangedNodes::With(std::span<const Node> nodes, WorkBudget& budget) {
  IndexNodes();
  StateChange change;
  for (const Node& node : nodes) {
    const Resources* used = OtherUsageOf(node.name);
    change.nodes.push_back({nodes_.at(node.name), &node, used, used});
  }
  return Apply(
      std::move(change),
      [&] {
        ClusterStateInput input = input_;
        for (const Node& node : nodes) {
          const auto position = nodes_.at(node.name) - input_.nodes.data();
          input.nodes[static_cast<std::size_t>(position)] = node;
        }
        return input;
      },
      budget);
}

Result<ClusterState> ChangedNodes::WithoutOtherPods(WorkBudget& budget) {
  IndexNodes();
  StateChange change;
  for (const NodeUsage& used : input_.non_tas_usage) {
    const auto node = nodes_.find(used.node);
    if (node == nodes_.end() || used.usage == used.lasting) continue;
    change.nodes.push_back(
        {node->second, node->second, &used.usage, used.lasting.empty() ? nullptr : &used.lasting});
  }
  return Apply(
      std::move(change),
      [&] {
        ClusterStateInput input = input_;
        for (NodeUsage& used : input.non_tas_usage) used.usage = used.lasting;
        return input;
      },
      budget);
}

}  // namespace espalier
