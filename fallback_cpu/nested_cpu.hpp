// Nested gangs on the CPU: the decision text on one lane.
#pragma once

#include <memory>

#include "host/nested/nested_runner.hpp"

namespace espalier {

// Makes a runner that decides on the CPU; never null.
std::unique_ptr<NestedRunner> MakeNestedCpuRunner();

}  // namespace espalier
