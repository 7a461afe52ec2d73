// Keeps what the manager of a flow across clusters has room for, step by step.
#pragma once

#include <optional>

#include "host/engine/engine.hpp"
#include "host/kueue/cycle/cycle_state.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"

namespace espalier {

// The state of a cluster whose workloads change one by one: built when it is first asked for, and
// brought up to date by the changes.
class ManagerCapacity {
 public:
  explicit ManagerCapacity(const Engine& engine) : engine_(engine) {}

  // Returns a copy of the state. Leaves the cluster as it was. Errors: those of
  // ClusterState::Build.
  Result<ClusterState> Copy(Cluster& manager);

  // Follows a workload of the manager that is about to be written as `after`.
  void Follow(const Workload& after, const Cluster& manager);

 private:
  const Engine& engine_;
  std::optional<CycleState> state_;
};

}  // namespace espalier
