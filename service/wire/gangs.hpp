// Reads a WorkloadBatch whose workloads are gangs as shapes and numbers of pods, without names per
// workload.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "espalier/v1/workload.pb.h"
#include "host/engine/gang_batch.hpp"
#include "host/engine/resolved_shape_cache.hpp"
#include "host/packing/cluster_state.hpp"
#include "service/wire/decoder.hpp"
#include "service/wire/gang_shapes.hpp"

namespace espalier {

struct GangRequests {
  GangBatch::Shapes shapes;
  std::vector<GangRow> gangs;  // [workloads]

  // Returns how many pod sets a workload of a shape has, and whether the one at a position is the
  // leader.
  int PodSets(std::int32_t shape) const { return At(shape).leader ? 2 : 1; }
  bool IsLeader(std::int32_t shape, int position) const {
    return At(shape).leader && (position == 0) == At(shape).leader_first;
  }
  const GangShape& At(std::int32_t shape) const {
    return shapes[static_cast<std::size_t>(shape)]->specification;
  }
};

// Returns the gangs of a message; nullopt when a workload is more than a gang on a flavor of
// `state`, or something is wrong with the message, so that FromProto of workloads.hpp must read it
// or report the error. Shapes that `known`, of `state` and its branches, does not have yet are
// resolved and added. Returns nullopt also when the work must stop.
std::optional<GangRequests> ReadGangs(const v1::WorkloadBatch& message, const ClusterState& state,
                                      const FeatureGates& gates, ResolvedShapeCache& known,
                                      WorkBudget& budget);

}  // namespace espalier
