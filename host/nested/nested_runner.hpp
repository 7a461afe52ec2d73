// Runs the decision of a nested gang.
#pragma once

#include <memory>

#include "kernels/nested/nested_views.hpp"

namespace espalier {

class NestedRunner {
 public:
  virtual ~NestedRunner() = default;

  // Decides one request on the arrays of `run`, which are in the memory of this process, and writes
  // the answer into them. The runner provides the workspace. Only one thread may call it at a time.
  virtual NestedResult Run(NestedRun run) = 0;
};

}  // namespace espalier
