// Several workloads that ask for the same cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/differential/instance.hpp"

namespace espalier::differential {

// A cluster and workloads without elastic or failed-node handling.
struct Queue {
  Instance instance;  // its request is not used
  std::vector<WorkloadRequest> requests;
};

// Returns a queue of 2 to `most` workloads.
Queue GenerateQueue(std::uint64_t seed, std::int64_t most);

}  // namespace espalier::differential
