// Questions about a cluster: where does a workload go, who would have to go, how many more fit, why
// not. Names stand for everything, so that an answer is the same whoever holds the cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/engine/request.hpp"
#include "host/kueue/validation/assignment_check.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "host/live/proposed_change.hpp"
#include "host/model/result.hpp"
#include "host/packing/cluster_state.hpp"
#include "host/what_if/atlas.hpp"
#include "host/what_if/defragment.hpp"
#include "host/what_if/prefix_batch.hpp"
#include "host/what_if/prefix_search.hpp"
#include "host/what_if/victim_sets.hpp"

namespace espalier {

// Room for gangs within one domain of each level, domains by their values.
struct NamedCensus {
  struct Domain {
    std::vector<std::string> values;  // coarsest first; empty for the whole flavor
    Count pods = 0;
    Count gangs = 0;
  };
  struct Level {
    std::string level;  // label key; empty: the whole flavor
    Count gangs = 0;    // in all its domains, side by side
    std::vector<Domain> domains;
  };
  std::string failure;  // why no gang can be placed; then no levels
  std::vector<Level> levels;
};

// The cheapest victims of one domain, which is named by its values; none: no domain has to be
// shared.
struct NamedDomainVictims {
  std::string flavor;
  std::vector<std::string> values;
  std::vector<VictimSet> sets;
  bool exact = true;
};

// The same as VictimSets, with domains by their values.
struct NamedVictimSets {
  bool fits = false;
  std::vector<NamedDomainVictims> domains;
};

// The rows of AtlasSearch, domains by their values.
struct NamedAtlas {
  struct Level {
    std::string flavor;
    std::string level;                              // label key
    std::vector<std::vector<std::string>> domains;  // in path order, values coarsest first
  };
  struct Row {
    std::vector<std::size_t> requests;  // positions, ascending
    std::optional<std::size_t> level;   // of `levels`; nullopt: only `anywhere` is told
    std::vector<PriorityStep> steps;    // by domain of the level
    PriorityStep anywhere = 0;
  };
  std::vector<std::int64_t> priorities;  // distinct, ascending
  std::vector<Level> levels;             // in the order in which rows first name them
  std::vector<Row> rows;

  // Returns the step of what does not fit even without everybody.
  PriorityStep never() const { return static_cast<PriorityStep>(priorities.size()) + 1; }
};

// An admitted workload with pods on nodes of a drain, slices of a job as one.
struct HitWorkload {
  ObjectKey key;
  std::int64_t priority = 0;
  std::int64_t pods_hit = 0;
  std::int64_t pods = 0;  // of the workload in all
};

struct DrainAnswer {
  std::vector<HitWorkload> hits;  // by priority, highest first, then key
  // Positions in the requests of those that are hit, and where they go.
  std::vector<std::size_t> moved;
  std::vector<WorkloadAnswer> answers;
};

struct NamedDefragment {
  DefragmentPlan plan;               // whose moves name positions in the requests
  std::vector<std::size_t> unknown;  // positions of those that are not known by key
};

// The record of what another scheduler did.
struct ReplayedWorkloads {
  std::vector<WorkloadRequest> requests;             // in the order in which they are decided
  std::vector<std::vector<FlavorLeafUsage>> chosen;  // what each was given; may be nothing
  std::vector<ObjectKey> ended;                      // those that are gone from the start
};

// Asks about one cluster with the feature gates of its makers. Nothing that is asked changes the
// cluster. Errors of all: kNotFound for a flavor, node or workload that is not there; kStale when
// the cluster changed in between; why the asker's budget was stopped.
class Questions {
 public:
  virtual ~Questions() = default;

  // Returns what the cluster is made of: what all its workloads use is part of the usage of leaves.
  virtual Result<ClusterStateInput> ReadInput() = 0;

  // Lets the later calls of FindVictims, FindVictimsOfEach, FindCheapestVictims, Atlas and
  // CountGangs be answered as if the cluster were changed so. Replaces what was supposed before.
  virtual Result<void> Suppose(ProposedChange change) = 0;

  // Answers each request on the cluster as it is.
  virtual Result<std::vector<WorkloadAnswer>> Nominate(
      std::span<const WorkloadRequest> requests) = 0;
  Result<WorkloadAnswer> NominateOne(const WorkloadRequest& request);

  // Answers each request on empty nodes, as EmptyNodes.
  virtual Result<std::vector<WorkloadAnswer>> NominateOnEmpty(
      std::span<const WorkloadRequest> requests) = 0;

  // Explains as espalier::Explain; without `running` all workloads that are known by key are tried.
  virtual Result<Certificate> Explain(const WorkloadRequest& request,
                                      std::optional<std::span<const RunningWorkload>> running) = 0;

  // Finds the fewest victims of each request as PrefixBatch, whose lists are `lists`; without any
  // all victims may go for each request, as they stand.
  virtual Result<std::vector<PrefixAnswer>> FindVictimsOfEach(
      std::span<const WorkloadRequest> requests, std::span<const RunningWorkload> victims,
      const VictimLists& lists = {}) = 0;
  Result<PrefixAnswer> FindVictims(const WorkloadRequest& request,
                                   std::span<const RunningWorkload> victims);

  // Finds the cheapest victims as FindVictimSets.
  virtual Result<NamedVictimSets> FindCheapestVictims(const WorkloadRequest& request,
                                                      std::span<const RunningWorkload> victims) = 0;

  // Counts as espalier::CountGangs. A request of several pod sets, or a tree, is counted as a whole
  // on the flavor, up to kMostCounted.
  virtual Result<NamedCensus> CountGangs(const WorkloadRequest& gang) = 0;
  static constexpr Count kMostCounted = 4096;

  // Finds the workloads with usage on nodes. Those with a request are placed anew, as a whole and
  // in order, once the nodes are drained and all of them removed. Errors: kNotFound for a request
  // of a workload that is not known by key.
  virtual Result<DrainAnswer> Drain(const std::vector<std::string>& nodes,
                                    std::span<const WorkloadRequest> requests) = 0;

  // Plans as PlanDefragment with what workloads of these requests are known to hold; all others
  // stay. Uses of `options` all but `shared`.
  virtual Result<NamedDefragment> Defragment(std::span<const WorkloadRequest> requests,
                                             const DefragmentOptions& options) = 0;

  // Returns what is decided about each workload on what is free at its turn, when each uses what
  // was chosen for it from then on. What the workloads and the ended ones use is free at the start.
  virtual Result<std::vector<WorkloadAnswer>> Replay(const ReplayedWorkloads& replayed) = 0;

  // Checks the assignments of admitted workloads as CheckAssignments, beside all that is known.
  // After a Replay, on the cluster that it was answered on.
  virtual Result<AssignmentCheck> Validate(std::span<const Workload> workloads) = 0;

  // Searches as AtlasSearch; without `running` all workloads that are known by key may go, slices
  // of a job together. Calls `progress` with the number of requests that are answered.
  virtual Result<NamedAtlas> Atlas(std::span<const WorkloadRequest> requests,
                                   std::optional<std::span<const RunningWorkload>> running,
                                   const AnsweredProgress& progress = {}) = 0;
};

}  // namespace espalier
