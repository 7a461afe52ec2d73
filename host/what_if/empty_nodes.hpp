// The nodes of a state as they are when empty: without admitted workloads, and of other pods with
// those alone that never end, as pods of DaemonSets.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/model/result.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Answers requests on the empty nodes of one state, which it makes when it is first asked.
class EmptyNodes {
 public:
  // `state` was built from `input`; both and the engine outlive it.
  EmptyNodes(const ClusterState& state, const ClusterStateInput& input, const Engine& engine)
      : state_(state), input_(input), engine_(engine) {}

  // Returns one answer for each request. Errors are those of ClusterState::Build, and why the
  // engine's budget was stopped.
  Result<std::vector<WorkloadAnswer>> Nominate(std::vector<WorkloadRequest> requests);

  // Returns the state that requests made by Request are answered on. Errors as above.
  Result<const ClusterState*> State();
  // Returns a request as it is asked on State().
  WorkloadRequest Request(WorkloadRequest request) const;

 private:
  // Returns whether `state_` itself, without usage of admitted workloads, is empty.
  bool NothingElseEnds() const;

  const ClusterState& state_;
  const ClusterStateInput& input_;
  const Engine& engine_;
  std::optional<ClusterState> built_;
};

}  // namespace espalier
