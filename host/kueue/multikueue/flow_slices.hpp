// Finds the slices of the job that a flow across clusters is about, in both of them.
#pragma once

#include <set>
#include <vector>

#include "host/kueue/multikueue/multikueue_flow.hpp"
#include "host/model/result.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// The slices of one job. They are objects of a state.
struct FlowSlices {
  const Workload* workload = nullptr;  // of the worker: that the job belongs to
  std::set<ObjectKey> all;             // in either cluster
  std::vector<Workload*> replicas;     // of the manager: slices per replica that have not ended
  std::vector<Workload*> chain;        // of the manager: those that have not ended, oldest first
  Workload* newest = nullptr;          // the last of the chain
  Workload* old = nullptr;             // the one before it; null: none

  // Returns the counts of the newest slice once the slices per replica that wait are folded into
  // it.
  CountsByPodSet CountsToCome() const;

  // Returns those counts with the ones of a request in their place.
  CountsByPodSet Wanted(const CountsByPodSet& request) const;
};

// Finds the slices of the worker's job. Errors: what must hold before a flow can begin and
// does not (kBadInput, W8.10), a workload that has finished in the manager (kNotFound).
Result<FlowSlices> FindFlowSlices(MultiKueueState& state);

}  // namespace espalier
