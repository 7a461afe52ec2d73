// The CPU back end: the decisions on one-lane teams, parallel across requests.
#pragma once

#include <memory>

#include "host/engine/backend.hpp"

namespace espalier {

// Makes a CPU back end, never null. `threads`: 0 for one per core that this process may use.
std::shared_ptr<Backend> MakeCpuBackend(int threads = 0);

}  // namespace espalier
