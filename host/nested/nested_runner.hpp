// Counts for nested gangs and runs their decisions.
#pragma once

#include <memory>

#include "host/engine/backend.hpp"
#include "kernels/nested/nested_views.hpp"

namespace espalier {

class NestedRunner {
 public:
  virtual ~NestedRunner() = default;

  // Counts as Backend::CountDomains does.
  virtual void CountDomains(const PlacementJob& job, CountsStorage& counts) const = 0;

  // Decides one request on the arrays of `run`, which are in the memory of this process, and writes
  // the answer into them. The runner provides the workspace. Only one thread may call it at a time.
  virtual NestedResult Run(NestedRun run) = 0;
};

}  // namespace espalier
