#include "service/server/placement_service.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "host/model/excerpt.hpp"
#include "service/server/access.hpp"
#include "service/server/arrivals.hpp"
#include "service/server/batch_checks.hpp"
#include "service/server/found_state.hpp"
#include "service/server/hold_calls.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/gangs.hpp"
#include "service/wire/message_bytes.hpp"
#include "service/wire/place_response.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

// A leaf and a number of pods in an answer, at most.
constexpr std::int64_t kMostBytesOfShare = 10;

// A batch as it was answered.
struct Answered {
  v1::AnswerBatch answers;             // of workloads
  AnswerRows rows;                     // of gangs
  std::optional<ClusterState> booked;  // the state with what was placed, in order
  std::vector<WorkloadAnswer> placed;  // of workloads that are held
};

Result<void> OnlyWithPodsInPlace(const std::vector<WorkloadRequest>& workloads) {
  const auto unplaced = std::ranges::find_if_not(workloads, HasPodsInPlace);
  if (unplaced == workloads.end()) return {};
  return BadInput(fmt::format(
      "workloads: {} (position {}) has neither a replacement nor a previous assignment, "
      "so nothing can be replaced; use Place",
      Excerpt(unplaced->key.ToString()), unplaced - workloads.begin()));
}

// The memory in which a thread answers a batch of gangs. It is used again by its next, unless it is
// more than a thread should sit on.
class AnswersOfThisThread {
 public:
  AnswersOfThisThread() = default;
  ~AnswersOfThisThread() {
    constexpr std::size_t kMostKept = std::size_t{1} << 18;  // entries of a column
    if (answers_.shares.capacity() > kMostKept || answers_.status.capacity() > kMostKept) {
      answers_ = {};
    }
    answers_.Clear();
  }
  AnswersOfThisThread(const AnswersOfThisThread&) = delete;
  AnswersOfThisThread& operator=(const AnswersOfThisThread&) = delete;

  GangAnswers& Get() { return answers_; }

 private:
  static thread_local GangAnswers answers_;
};

thread_local GangAnswers AnswersOfThisThread::answers_;

Result<Answered> AnswerGangs(const GangRequests& requests, const PublishedState& snapshot,
                             Backend& backend, PlacementMode mode, bool by_name, WorkBudget& budget,
                             GangAnswers& answers) {
  const ClusterState& state = snapshot.state;
  if (mode == PlacementMode::kNominate) {
    GangBatch batch(state, requests.shapes, budget);
    batch.Nominate(backend, requests.gangs, answers);
    if (budget.stopped()) return tl::unexpected(budget.Check().error());
    return Answered{.rows = RowsToProto(requests, batch, answers, state, by_name, budget)};
  }
  Result<ClusterState> scratch = state.Branch(budget);
  if (!scratch) return tl::unexpected(scratch.error());
  GangBatch batch(*scratch, requests.shapes, budget);
  batch.PlaceInOrder(backend, *scratch, requests.gangs, answers);
  if (budget.stopped()) return tl::unexpected(budget.Check().error());
  return Answered{.rows = RowsToProto(requests, batch, answers, state, by_name, budget),
                  .booked = *std::move(scratch)};
}

Result<Answered> AnswerWorkloads(const std::vector<WorkloadRequest>& workloads,
                                 const PublishedState& snapshot, const Engine& engine,
                                 PlacementMode mode, const LeafIndex& leaf_index, bool held) {
  std::vector<WorkloadAnswer> answers;
  std::optional<ClusterState> booked;
  if (mode == PlacementMode::kNominate) {
    answers = engine.Nominate(snapshot.state, workloads);
  } else {
    Result<ClusterState> scratch = snapshot.state.Branch(engine.budget());
    if (!scratch) return tl::unexpected(scratch.error());
    answers = engine.PlaceInOrder(*scratch, workloads);
    booked = *std::move(scratch);
  }
  if (engine.budget().stopped()) return tl::unexpected(engine.budget().Check().error());
  auto batch = ToProto(workloads, answers, leaf_index, engine.budget());
  if (!batch) return tl::unexpected(batch.error());
  if (!held) answers.clear();
  return Answered{
      .answers = *std::move(batch), .booked = std::move(booked), .placed = std::move(answers)};
}

}  // namespace

PlacementService::PlacementService(Calls& calls, NamedStates& states, Commits& commits,
                                   HoldExpiry& expiry, std::shared_ptr<Backend> backend,
                                   FeatureGates gates, std::string feature_gates)
    : calls_(calls),
      states_(states),
      commits_(commits),
      expiry_(expiry),
      backend_(std::move(backend)),
      gates_(gates),
      feature_gates_(std::move(feature_gates)) {}

grpc::ServerUnaryReactor* PlacementService::Place(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  return Run(context, request, Workloads::kAny, response);
}

grpc::ServerUnaryReactor* PlacementService::Replace(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  return Run(context, request, Workloads::kWithPodsInPlace, response);
}

grpc::ServerUnaryReactor* PlacementService::Run(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer* request, Workloads which,
                                                grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::PlaceRequest>(
      context, calls_.queue(), request,
      [this, which, response, context](const v1::PlaceRequest& message, WorkBudget& budget) {
        return Answer(message, *context, which, budget, *response);
      });
}

grpc::ServerUnaryReactor* PlacementService::ConfirmHolds(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ConfirmHoldsRequest, v1::ConfirmHoldsResponse>(
      context, calls_.state_queue(), request, response,
      [this, context](const v1::ConfirmHoldsRequest& message, WorkBudget& budget,
                      v1::ConfirmHoldsResponse& answer) {
        const grpc::Status may =
            CheckMakers(*context, states_, message.state_name(), message.ids());
        if (!may.ok()) return may;
        return espalier::ConfirmHolds(states_, expiry_.clock(), feature_gates_, message, budget,
                                      answer);
      });
}

grpc::ServerUnaryReactor* PlacementService::ReleaseHolds(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ReleaseHoldsRequest, v1::ReleaseHoldsResponse>(
      context, calls_.state_queue(), request, response,
      [this, context](const v1::ReleaseHoldsRequest& message, WorkBudget& budget,
                      v1::ReleaseHoldsResponse& answer) {
        const grpc::Status may =
            CheckMakers(*context, states_, message.state_name(), message.ids());
        if (!may.ok()) return may;
        return espalier::ReleaseHolds(states_, expiry_.clock(), message, budget, answer);
      });
}

grpc::ServerUnaryReactor* PlacementService::ExtendHolds(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::ExtendHoldsRequest, v1::ExtendHoldsResponse>(
      context, calls_.state_queue(), request, response,
      [this, context](const v1::ExtendHoldsRequest& message, WorkBudget&,
                      v1::ExtendHoldsResponse& answer) {
        const grpc::Status may =
            CheckMakers(*context, states_, message.state_name(), message.ids());
        if (!may.ok()) return may;
        return espalier::ExtendHolds(states_, expiry_, message, answer);
      });
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* PlacementService::ListHolds(
    grpc::CallbackServerContext* context, const grpc::ByteBuffer* request) {
  return calls_.StreamParsed<v1::ListHoldsRequest, v1::ListHoldsResponse>(
      context, calls_.state_queue(), request,
      [this](const v1::ListHoldsRequest& message, WorkBudget& budget,
             Calls::NextMessage<v1::ListHoldsResponse>& next) {
        return espalier::ListHolds(states_, expiry_.clock(), message, budget, next);
      });
}

grpc::Status PlacementService::Answer(const v1::PlaceRequest& request,
                                      const grpc::CallbackServerContext& context, Workloads which,
                                      WorkBudget& budget, grpc::ByteBuffer& bytes) {
  return commits_.Answer(request, bytes, [&](const CommittedReplies::Key& key) {
    return Decide(request, key, context, which, budget, bytes);
  });
}

grpc::Status PlacementService::Decide(const v1::PlaceRequest& request,
                                      const CommittedReplies::Key& key,
                                      const grpc::CallbackServerContext& context, Workloads which,
                                      WorkBudget& budget, grpc::ByteBuffer& bytes) {
  if (const auto checked = CheckHoldRequest(request); !checked) return ToStatus(checked.error());
  const bool held = request.hold_seconds() != 0;
  FoundState found;
  if (const grpc::Status status = FindState(states_, request, found); !status.ok()) return status;
  const PublishedState& snapshot = *found.snapshot;
  const ClusterState& state = snapshot.state;

  const auto mode = ReadCommitMode(request);
  if (!mode) return ToStatus(mode.error());
  const auto leaf_index = ReadNaming(request.domain_naming(), state);
  if (!leaf_index) return ToStatus(leaf_index.error());
  const auto gates =
      ApplyFeatureGates(request.feature_gates(), GatesOf(snapshot.configuration, gates_));
  if (!gates) return ToStatus(gates.error());

  Result<Answered> answered;
  std::optional<GangRequests> gangs;
  AnswersOfThisThread gang_answers;
  std::optional<std::vector<WorkloadRequest>> workloads;
  if (which == Workloads::kAny && !held) {  // what is held has names
    const std::int64_t before = budget.charged();
    gangs = ReadGangs(request.workloads(), state, *gates, *snapshot.shapes, budget);
    if (!gangs) budget.Release(budget.charged() - before);
  }
  if (gangs) {
    answered =
        AnswerGangs(*gangs, snapshot, *backend_, *mode, !*leaf_index, budget, gang_answers.Get());
  } else {
    auto read = FromProto(request.workloads(), budget);
    if (!read) return ToStatus(read.error());
    workloads = *std::move(read);
    if (which == Workloads::kWithPodsInPlace) {
      if (const auto checked = OnlyWithPodsInPlace(*workloads); !checked) {
        return ToStatus(checked.error());
      }
    }
    if (const auto checked = CheckFlavors(*workloads, state); !checked) {
      return ToStatus(checked.error());
    }
    answered = AnswerWorkloads(*workloads, snapshot, Engine(backend_, *gates, budget), *mode,
                               *leaf_index, held);
  }
  if (!answered) return ToStatus(answered.error());
  if (!budget.MayContinue()) return ToStatus(budget.Check().error());

  // The whole answer is made before anything is booked: whatever can be refused is refused now.
  v1::PlaceResponse response;
  *response.mutable_state() = ToProto(snapshot.position);
  const StatePosition next = Next(snapshot.position);
  if (request.commit()) *response.mutable_committed() = ToProto(next);
  const HoldClock::TimePoint now = expiry_.clock().Now();
  std::vector<Hold> holds;
  if (held) {
    auto made = HoldsOf(request, *workloads, answered->placed, next.generation, context.peer(),
                        CallerOf(context).Maker(), now, budget, response);
    if (!made) return ToStatus(made.error());
    holds = *std::move(made);
  }
  if (gangs) {
    const auto shares = static_cast<std::int64_t>(gang_answers.Get().shares.size());
    if (!budget.Charge(shares * kMostBytesOfShare)) return ToStatus(budget.Check().error());
    bytes = ToBytes(response, answered->rows, *gangs, gang_answers.Get(), state);
    if (const auto fits = calls_.CheckAnswer(bytes.Length(), budget); !fits) {
      return ToStatus(fits.error());
    }
  } else {
    *response.mutable_answers() = std::move(answered->answers);
    if (const auto fits = calls_.CheckAnswer(response.ByteSizeLong(), budget); !fits) {
      return ToStatus(fits.error());
    }
    bytes = ToBytes(response);
  }
  if (!request.commit()) return grpc::Status::OK;
  if (held) {
    const auto expires = now + std::chrono::seconds(request.hold_seconds());
    const grpc::Status booked = commits_.Book(key, bytes, [&] {
      const auto placed = found.store->PlaceHolds(snapshot.position, std::move(holds), budget);
      return placed ? grpc::Status::OK : HoldStatus(placed.error(), *found.store);
    });
    if (booked.ok()) expiry_.Expect(expires);
    return booked;
  }
  return commits_.Book(key, bytes, *found.store, snapshot.position, *std::move(answered->booked),
                       budget);
}

}  // namespace espalier
