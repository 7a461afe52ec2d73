#include "host/what_if/empty_nodes.hpp"

#include <algorithm>
#include <utility>

#include "host/what_if/changed_nodes.hpp"

namespace espalier {

bool EmptyNodes::NothingElseEnds() const {
  return std::ranges::all_of(input_.non_tas_usage,
                             [](const NodeUsage& node) { return node.usage == node.lasting; });
}

Result<const ClusterState*> EmptyNodes::State() {
  if (built_) return &*built_;
  if (NothingElseEnds()) return &state_;
  Result<ClusterState> built = ChangedNodes(state_, input_).WithoutOtherPods(engine_.budget());
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
