#include "host/engine/empty_nodes.hpp"

#include <algorithm>
#include <utility>

namespace espalier {

ClusterStateInput Emptied(ClusterStateInput input) {
  input.tas_usage.clear();
  for (NodeUsage& node : input.non_tas_usage) node.usage = node.lasting;
  std::erase_if(input.non_tas_usage, [](const NodeUsage& node) { return node.usage.empty(); });
  return input;
}

bool EmptyNodes::NothingElseEnds() const {
  return std::ranges::all_of(input_.non_tas_usage,
                             [](const NodeUsage& node) { return node.usage == node.lasting; });
}

Result<const ClusterState*> EmptyNodes::State() {
  if (built_) return &*built_;
  if (NothingElseEnds()) return &state_;
  Result<ClusterState> built = ClusterState::Build(Emptied(input_), engine_.budget());
  if (!built) return tl::unexpected(built.error());
  built_ = *std::move(built);
  return &*built_;
}

WorkloadRequest EmptyNodes::Request(WorkloadRequest request) const {
  request.simulate_empty = true;  // what admitted workloads use need not be taken out (R5.1)
  return request;
}

Result<std::vector<WorkloadAnswer>> EmptyNodes::Nominate(std::vector<WorkloadRequest> requests) {
  const auto state = State();
  if (!state) return tl::unexpected(state.error());
  for (WorkloadRequest& request : requests) request = Request(std::move(request));
  std::vector<WorkloadAnswer> answers = engine_.Nominate(**state, requests);
  if (auto check = engine_.budget().Check(); !check) return tl::unexpected(check.error());
  return answers;
}

}  // namespace espalier
