// Asks a back end for a whole queue and compares answers.
#pragma once

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "host/engine/engine.hpp"

namespace espalier {

inline ClusterState Build(const ClusterStateInput& input) {
  auto state = ClusterState::Build(input);
  EXPECT_TRUE(state) << state.error().message;
  return *std::move(state);
}

inline std::vector<WorkloadAnswer> Ask(const std::shared_ptr<Backend>& backend,
                                       const ClusterStateInput& cluster,
                                       const std::vector<WorkloadRequest>& gangs,
                                       PlacementMode mode, const FeatureGates& gates = {}) {
  ClusterState state = Build(cluster);
  return Engine(backend, gates).Place(state, gangs, mode);
}

inline void ExpectEqual(const std::vector<WorkloadAnswer>& cpu,
                        const std::vector<WorkloadAnswer>& device) {
  ASSERT_EQ(cpu.size(), device.size());
  for (std::size_t i = 0; i < cpu.size(); ++i) EXPECT_EQ(cpu[i], device[i]) << "gang " << i;
}

}  // namespace espalier
