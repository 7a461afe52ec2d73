// Questions to the state of a server: the same answers as from host/kueue and host/engine.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/engine/census.hpp"
#include "host/engine/defragment.hpp"
#include "host/engine/feature_gates.hpp"
#include "host/engine/prefix_search.hpp"
#include "host/engine/request.hpp"
#include "host/engine/victim_sets.hpp"
#include "host/kueue/assignment_check.hpp"
#include "host/kueue/certificate.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Nodes that are different in a question.
struct ChangedNodes {
  std::vector<std::string> drained;  // names
  std::vector<Node> upserted;        // that come, or take the place of those of the same name
};

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
  std::vector<std::string> values;
  std::vector<VictimSet> sets;
  bool exact = true;
};

// As VictimSets.
struct NamedVictimSets {
  bool fits = false;
  std::vector<NamedDomainVictims> domains;
};

// An admitted workload that a server knows by key, with pods on nodes of a drain.
struct HitByKey {
  ObjectKey key;
  std::int64_t priority = 0;
  std::int64_t pods_hit = 0;
  std::int64_t pods = 0;
};

// What a server plans, and which of the gangs it does not know.
struct RemoteDefragment {
  DefragmentPlan plan;
  std::vector<std::size_t> unknown;  // positions
};

// What another scheduler did, for RemoteQuestions::Replay.
struct ReplayedWorkloads {
  std::vector<WorkloadRequest> requests;             // in the order in which they are decided
  std::vector<std::vector<FlavorLeafUsage>> chosen;  // what each was given; may be nothing
  std::vector<ObjectKey> ended;                      // those that are gone from the start
};

class RemoteQuestions {
 public:
  // Asks about the server's state of a name; empty: the one without. `timeout` bounds each call.
  // Errors as RemoteEngine::Connect, but that it is not seen here whether a server answers.
  static Result<RemoteQuestions> Connect(
      const std::string& address, std::string state_name,
      std::chrono::milliseconds timeout = std::chrono::minutes(5));

  RemoteQuestions(RemoteQuestions&&) noexcept;
  RemoteQuestions& operator=(RemoteQuestions&&) noexcept;
  ~RemoteQuestions();

  // Answers a request on the state as it is.
  Result<WorkloadAnswer> Place(const WorkloadRequest& request, const FeatureGates& gates);

  // Answers requests on empty nodes, as EmptyNodes::Nominate on the state.
  Result<std::vector<WorkloadAnswer>> NominateOnEmpty(std::span<const WorkloadRequest> requests,
                                                      const FeatureGates& gates);

  // As espalier::Explain. Without `running` all workloads that the state knows by key are tried.
  Result<Certificate> Explain(const WorkloadRequest& request,
                              std::span<const RunningWorkload> running, const FeatureGates& gates);

  // As FindPrefix on the state once nodes have changed. kNotFound for a node that is not there.
  Result<PrefixAnswer> FindVictims(const WorkloadRequest& request,
                                   std::span<const RunningWorkload> victims,
                                   const ChangedNodes& nodes, const FeatureGates& gates);

  // As FindVictimSets.
  Result<NamedVictimSets> FindCheapestVictims(const WorkloadRequest& request,
                                              std::span<const RunningWorkload> victims,
                                              const FeatureGates& gates);

  // As espalier::CountGangs on the state with nodes drained.
  Result<NamedCensus> CountGangs(const PodSetRequest& gang, const std::vector<std::string>& drained,
                                 const FeatureGates& gates);

  // Returns the workloads with usage on nodes, by priority, highest first, then key.
  Result<std::vector<HitByKey>> WorkloadsOn(const std::vector<std::string>& nodes);

  // Places workloads that have usage on nodes anew, as a whole and in order, once the nodes are
  // drained and all of the workloads removed. Errors: kNotFound for a workload or node that is not
  // there, kStale for a workload that has nothing on the nodes any more.
  Result<std::vector<WorkloadAnswer>> Drain(const std::vector<std::string>& nodes,
                                            std::span<const WorkloadRequest> requests,
                                            const FeatureGates& gates);

  // Plans as PlanDefragment for the gangs with a request, by what the server knows that they hold.
  Result<RemoteDefragment> Defragment(std::span<const HoldingGang> gangs,
                                      const DefragmentOptions& options, const FeatureGates& gates);

  // Returns what is decided about each workload on what is free at its turn, when each uses what
  // was chosen for it from then on.
  Result<std::vector<WorkloadAnswer>> Replay(const ReplayedWorkloads& replayed,
                                             const FeatureGates& gates);

  // Checks the assignments of admitted workloads as CheckAssignments, beside all that the server
  // knows. After a Replay, on the state that it was answered on; kStale where that has changed.
  Result<AssignmentCheck> Validate(std::span<const Workload> workloads, const FeatureGates& gates);

 private:
  class Impl;
  explicit RemoteQuestions(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
