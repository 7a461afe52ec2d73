// Questions to the state of a server.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "host/engine/feature_gates.hpp"
#include "host/questions/questions.hpp"
#include "service/client/client_options.hpp"

namespace espalier {

class RemoteQuestions final : public Questions {
 public:
  // Asks about the server's state of a name; empty: the one without. `timeout` bounds each call.
  // Errors as RemoteEngine::Connect, but that it is not seen here whether a server answers.
  static Result<std::unique_ptr<RemoteQuestions>> Connect(
      const std::string& address, std::string state_name, const FeatureGates& gates,
      std::chrono::milliseconds timeout = kCallTimeout, const ClientTls& tls = {});

  ~RemoteQuestions() override;

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
  Result<NamedVictimSets> FindCheapestVictims(const WorkloadRequest& request,
                                              std::span<const RunningWorkload> victims) override;
  Result<NamedAtlas> Atlas(std::span<const WorkloadRequest> requests,
                           std::optional<std::span<const RunningWorkload>> running,
                           const AnsweredProgress& progress = {}) override;
  Result<NamedCensus> CountGangs(const WorkloadRequest& gang) override;
  Result<DrainAnswer> Drain(const std::vector<std::string>& nodes,
                            std::span<const WorkloadRequest> requests) override;
  Result<NamedDefragment> Defragment(std::span<const WorkloadRequest> requests,
                                     const DefragmentOptions& options) override;
  Result<std::vector<WorkloadAnswer>> Replay(const ReplayedWorkloads& replayed) override;
  Result<AssignmentCheck> Validate(std::span<const Workload> workloads) override;

 private:
  class Impl;
  explicit RemoteQuestions(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier
