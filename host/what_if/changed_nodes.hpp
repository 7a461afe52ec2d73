// States that differ from one in some of its nodes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/packing/usage_by_leaf.hpp"

namespace espalier {

class ChangedNodes {
 public:
  // `state` was built from `input`; both outlive this and do not change.
  ChangedNodes(const ClusterState& state, const ClusterStateInput& input)
      : state_(state), input_(input) {}

  // Returns what ClusterState::Build makes once nodes have taken the place of those of the same
  // names, each once, all of which exist. Packs only where ClusterState::CanApply asks for it.
  // Errors are those of Build, and why `budget` was stopped.
  Result<ClusterState> With(std::span<const Node> nodes, WorkBudget& budget);

  // Returns the same once no pod that could end uses anything of a node, but for those of
  // topology-aware workloads.
  Result<ClusterState> WithoutOtherPods(WorkBudget& budget);

 private:
  void IndexNodes();
  const Resources* OtherUsageOf(std::string_view node) const;
  Result<ClusterState> Apply(StateChange change, const std::function<ClusterStateInput()>& changed,
                             WorkBudget& budget);

  const ClusterState& state_;
  const ClusterStateInput& input_;
  // Indexes of `input_`, made once they are needed.
  std::unordered_map<std::string_view, const Node*> nodes_;
  std::unordered_map<std::string_view, const NodeUsage*> other_usage_;
  std::optional<UsageByLeaf> usage_;
};

}  // namespace espalier
