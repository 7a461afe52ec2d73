// Finds for many requests, and every domain that each may go to, the lowest priority below which
// everybody would have to go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/what_if/victim.hpp"
#include "host/what_if/victims_by_flavor.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Numbers who is gone: with step s all victims of the s lowest of the distinct priorities. 0:
// nobody; one more than there are priorities: it does not fit at any step.
using PriorityStep = std::int32_t;

// The steps of requests that ask for the same.
struct AtlasRow {
  std::vector<std::size_t> requests;  // positions, ascending
  std::string flavor;                 // of the first pod set
  // Ids in the flavor's snapshot of all domains of the level that is required, or else preferred;
  // none where neither is asked, or where more than counts of pods decides: several groups of pod
  // sets, a tree, or pods that stay where they are.
  DomainRange domains;
  std::vector<PriorityStep> steps;  // by domain: the first at which it alone holds the request
  PriorityStep anywhere = 0;        // the first at which the request is placed, wherever
};

// Searches the rows of many requests, some at a time.
//
// A step removes whole priorities, the lowest first, whatever the others in a domain are: its last
// priority is the highest that any set of victims for the domain has to touch, as FindVictimSets
// finds it. Room is that of the placement: usage, slices, leaders, selectors and taints count.
// Nothing else does: no quota, no preemption policy of a queue, no order among victims. A victim
// gives back what it holds on the flavors that it is on (R5.7). Where pods may be spread over
// several domains beside a leader, with balanced placement, or in several groups, more room may
// make the placement choose worse: `anywhere` is the first step that fits, and a later one may not.
class AtlasSearch {
 public:
  // Starts the search. `priorities` has one for each victim. The engine, the state and the requests
  // must outlive this object. Errors are those of CheckVictims, of victims that go together.
  static Result<AtlasSearch> Open(const Engine& engine, const ClusterState& state,
                                  std::span<const WorkloadRequest> requests,
                                  std::span<const Victim> victims,
                                  std::span<const std::int64_t> priorities);
  // Starts a search with steps that are given: with step s the victims of with_step[s - 1] are gone
  // too, by their numbers in `held`, which are resolved and go together. Ends for each request with
  // the first step at which it is placed; rows have domains where one of a level is required, and
  // in `steps` only those that hold the request at that step.
  static AtlasSearch OfFirstSteps(const Engine& engine, const ClusterState& state,
                                  std::span<const WorkloadRequest> requests,
                                  const VictimsByFlavor& held,
                                  std::span<const std::vector<std::uint32_t>> with_step);
  AtlasSearch(AtlasSearch&&) noexcept;
  AtlasSearch& operator=(AtlasSearch&&) noexcept;
  ~AtlasSearch();

  // Returns the distinct priorities, ascending.
  std::span<const std::int64_t> priorities() const;
  // Returns the step of what does not fit at any.
  PriorityStep never() const;

  // Returns the next rows; none once all requests have theirs. The memory of rows stays charged
  // until the next call. Errors: the budget's.
  Result<std::vector<AtlasRow>> Next();

 private:
  class Impl;
  explicit AtlasSearch(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
