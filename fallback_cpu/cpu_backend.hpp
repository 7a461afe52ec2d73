// The CPU back end: the decisions on one-lane teams, parallel across requests.
#pragma once

#include <memory>

#include "host/engine/backend.hpp"

namespace espalier {

// `threads`: 0 for one per core this process may use. Never null.
std::shared_ptr<Backend> MakeCpuBackend(int threads = 0);

}  // namespace espalier
