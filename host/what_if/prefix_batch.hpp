// Finds for many requests at once the fewest victims whose removal lets each fit (R29.3).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/what_if/prefix_search.hpp"
#include "host/what_if/victim.hpp"

namespace espalier {

// Lists of victims by position, one for each request or one for all of them.
using VictimLists = std::vector<std::vector<std::uint32_t>>;

// Answers each request as FindPrefix with the victims of its list, on all threads.
//
// What requests have in common is done once: the names of victims are resolved once, and requests
// with the same list walk through it together, as an AtlasSearch, which tells between which two of
// some tens of places of the list each begins to fit, and in which domains. Only what these domains
// hold is then counted victim by victim, and put back. A request that more room does not always
// help, whose list is its own, or that is not decided by one job, is searched on its own.
class PrefixBatch {
 public:
  // Starts the search. The engine, the state, the requests and the lists must outlive it; no list
  // names a position twice. Errors are those of FindPrefix for the first list that has one.
  static Result<PrefixBatch> Open(const Engine& engine, const ClusterState& state,
                                  std::span<const WorkloadRequest> requests,
                                  std::vector<Victim> victims, const VictimLists& lists);
  PrefixBatch(PrefixBatch&&) noexcept;
  PrefixBatch& operator=(PrefixBatch&&) noexcept;
  ~PrefixBatch();

  // Returns the answers to the next requests; none once all are answered. Targets are positions in
  // the victims, not in a list. The memory of answers stays charged until the next call. Errors:
  // the budget's.
  Result<std::vector<PrefixAnswer>> Next();

 private:
  class Impl;
  explicit PrefixBatch(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
