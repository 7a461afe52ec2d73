// Answers questions on a cluster that is held in this process.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/live/state_store.hpp"
#include "host/questions/atlas_parts.hpp"
#include "host/questions/questions.hpp"

namespace espalier {

class LocalQuestions final : public Questions {
 public:
  // Asks about `snapshot`, a state that `store` has published. What needs more than the snapshot
  // (Suppose with a change, Explain, Drain) is kStale once the store has another one.
  LocalQuestions(std::shared_ptr<StateStore> store, std::shared_ptr<const PublishedState> snapshot,
                 Engine engine);

  // Asks about a cluster of files. Errors are those of StateStore::Load.
  static Result<std::unique_ptr<LocalQuestions>> Open(const Cluster& cluster, const Engine& engine);

  // Returns the state that FindVictims, CountGangs and others are answered on.
  const ClusterState& supposed() const { return supposed_ ? *supposed_ : snapshot_->state; }

  Result<ClusterStateInput> ReadInput() override;
  Result<void> Suppose(ProposedChange change) override;
  Result<std::vector<WorkloadAnswer>> Nominate(std::span<const WorkloadRequest> requests) override;
  Result<std::vector<WorkloadAnswer>> NominateOnEmpty(
      std::span<const WorkloadRequest> requests) override;
  Result<Certificate> Explain(const WorkloadRequest& request,
                              std::optional<std::span<const RunningWorkload>> running) override;
  Result<std::vector<PrefixAnswer>> FindVictimsOfEach(std::span<const WorkloadRequest> requests,
                                                      std::span<const RunningWorkload> victims,
                                                      const VictimLists& lists) override;
  // Starts the same, to be told in parts. `requests`, the lists, of which there must be one, and
  // this object must outlive it.
  Result<PrefixBatch> StartVictims(std::span<const WorkloadRequest> requests,
                                   std::vector<RunningWorkload> victims,
                                   const VictimLists& lists) const;
  Result<NamedVictimSets> FindCheapestVictims(const WorkloadRequest& request,
                                              std::span<const RunningWorkload> victims) override;
  Result<NamedAtlas> Atlas(std::span<const WorkloadRequest> requests,
                           std::optional<std::span<const RunningWorkload>> running,
                           const AnsweredProgress& progress = {}) override;
  // Starts the same, to be told in parts. `requests` and this object must outlive it.
  Result<AtlasParts> StartAtlas(std::span<const WorkloadRequest> requests,
                                std::optional<std::span<const RunningWorkload>> running) const;
  Result<NamedCensus> CountGangs(const WorkloadRequest& gang) override;
  Result<DrainAnswer> Drain(const std::vector<std::string>& nodes,
                            std::span<const WorkloadRequest> requests) override;
  Result<NamedDefragment> Defragment(std::span<const WorkloadRequest> requests,
                                     const DefragmentOptions& options) override;
  Result<std::vector<WorkloadAnswer>> Replay(const ReplayedWorkloads& replayed) override;
  Result<AssignmentCheck> Validate(std::span<const Workload> workloads) override;

 private:
  // Returns what the snapshot was built from.
  Result<const ClusterStateInput*> Input();
  // Checks that the state has the flavors of the requests. Errors: kNotFound.
  Result<void> CheckFlavors(std::span<const WorkloadRequest> requests) const;
  // Returns an answer, unless the engine's budget was stopped while it was made.
  template <class Answer>
  Result<Answer> IfDone(Answer answer) const;

  std::shared_ptr<StateStore> store_;
  std::shared_ptr<const PublishedState> snapshot_;
  Engine engine_;
  std::optional<ClusterState> supposed_;    // absent: the snapshot's
  std::optional<ClusterStateInput> input_;  // once it was asked for
};

// Replays what another scheduler did, workload by workload on one state.
class Replayer {
 public:
  // Frees what the workloads, and those that ended, use in the snapshot. `engine` outlives this.
  // The error is why its budget was stopped.
  static Result<Replayer> Start(const PublishedState& snapshot,
                                std::span<const WorkloadRequest> requests,
                                std::span<const ObjectKey> ended, const Engine& engine);

  // Returns what is decided about the next workload, which then uses what was chosen for it.
  // Meaningless once the engine's budget was stopped.
  WorkloadAnswer Next(const WorkloadRequest& request, const std::vector<FlavorLeafUsage>& chosen);

 private:
  Replayer(ClusterState state, bool shares_usage, const Engine& engine)
      : state_(std::move(state)), shares_usage_(shares_usage), engine_(&engine) {}

  ClusterState state_;
  bool shares_usage_ = true;
  const Engine* engine_;
};

// Checks that no two workloads have the same key. Errors: kBadInput, with the position.
Result<void> CheckAskedOnce(std::span<const WorkloadRequest> requests);

// Returns all workloads that are known by key, the slices of a job as one under the newest, by
// priority and key.
std::vector<RunningWorkload> AllAdmitted(const AdmittedWorkloads& admitted);

}  // namespace espalier
