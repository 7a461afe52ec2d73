// Reads the workloads that questions are about, and the state that they are answered on.
#pragma once

#include <memory>
#include <vector>

#include <grpcpp/support/status.h>

#include "espalier/v1/placement.pb.h"
#include "host/engine/engine.hpp"
#include "host/questions/local_questions.hpp"
#include "service/server/found_state.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/feature_gates.hpp"

namespace espalier {

// The parts that questions have in common; valid for one call.
struct QuestionContext {
  FoundState found;
  std::shared_ptr<Backend> backend;
  FeatureGates gates;
  WorkBudget* budget = nullptr;
  LeafIndex leaf_index;
  std::vector<WorkloadRequest> workloads;

  Engine MakeEngine() const { return Engine(backend, gates, *budget); }
  LocalQuestions MakeQuestions() const { return {found.store, found.snapshot, MakeEngine()}; }
  const ClusterState& state() const { return found.snapshot->state; }

  bool shares_usage() const { return found.snapshot->shares_usage; }

  // Writes the answer to one workload, by its position.
  Result<void> WriteAnswer(std::size_t workload, const WorkloadAnswer& answer,
                           v1::AnswerBatch& message) const;
};

// Reads feature gates and workloads of a call into `asked`, whose `found`, `backend`, `gates` (the
// server's) and `budget` must be set.
grpc::Status ReadWorkloads(const FeatureGateMap& gates, const v1::WorkloadBatch& workloads,
                           v1::DomainNaming naming, QuestionContext& asked);

// Opens a call about workloads: finds its state, then reads what it asks, both as above.
template <class Request>
grpc::Status OpenQuestion(const Request& request, const NamedStates& states,
                          const v1::WorkloadBatch& workloads, v1::DomainNaming naming,
                          QuestionContext& asked) {
  if (const auto found = FindState(states, request, asked.found); !found.ok()) return found;
  asked.gates = GatesOf(asked.found.snapshot->configuration, asked.gates);
  return ReadWorkloads(request.feature_gates(), workloads, naming, asked);
}

// Opens a call of any request that has workloads, and domains to name.
template <class Request>
grpc::Status OpenQuestion(const Request& request, const NamedStates& states,
                          QuestionContext& asked) {
  return OpenQuestion(request, states, request.workloads(), request.domain_naming(), asked);
}

}  // namespace espalier
