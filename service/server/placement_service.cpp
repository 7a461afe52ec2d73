#include "service/server/placement_service.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "host/engine/assignments.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/server/store_status.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/gangs.hpp"
#include "service/wire/place_response.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMaxBatchBytes = std::int64_t{2} << 30;
// Of a protobuf message, less what is not its answers.
constexpr std::size_t kMostAnswerBytes = (std::size_t{2} << 30) - (std::size_t{1} << 20);

Result<PlacementMode> ReadMode(const v1::PlaceRequest& request) {
  switch (static_cast<int>(request.mode())) {
    case v1::PLACEMENT_MODE_NOMINATE:
      if (request.commit()) {
        return BadInput("commit: nothing can be booked in mode NOMINATE; use SEQUENTIAL");
      }
      return PlacementMode::kNominate;
    case v1::PLACEMENT_MODE_SEQUENTIAL:
      return PlacementMode::kSequential;
    default:
      return BadInput(fmt::format("mode: is {}; NOMINATE (1) or SEQUENTIAL (2) expected",
                                  static_cast<int>(request.mode())));
  }
}

// A batch as it was answered.
struct Answered {
  v1::AnswerBatch answers;              // of gangs: the rows alone
  std::vector<FlavorLeafUsage> booked;  // only when something is to be committed
};

// How domains of answers on `state` are named; empty: by their values.
Result<LeafIndex> ReadNaming(const v1::PlaceRequest& request, const ClusterState& state) {
  switch (static_cast<int>(request.domain_naming())) {
    case v1::DOMAIN_NAMING_NAME:
      return LeafIndex();
    case v1::DOMAIN_NAMING_INDEX:
      return [&state](const std::string& flavor,
                      const std::vector<std::string>& values) -> std::optional<std::int32_t> {
        const FlavorState* found = state.Find(flavor);
        const LeafId leaf = found ? found->snapshot().FindLeaf(DomainIdText(values)) : LeafId();
        if (!leaf.valid()) return std::nullopt;
        return leaf.value;
      };
    default:
      return BadInput(fmt::format("domain_naming: is {}; INDEX (0) or NAME (1) expected",
                                  static_cast<int>(request.domain_naming())));
  }
}

std::vector<FlavorLeafUsage> BookedByAll(const std::vector<WorkloadRequest>& requests,
                                         const std::vector<WorkloadAnswer>& answers) {
  std::vector<FlavorLeafUsage> booked;
  for (std::size_t w = 0; w < requests.size(); ++w) {
    if (answers[w].FirstFailure() != nullptr) continue;
    for (FlavorLeafUsage& usage : BookedUsage(requests[w], answers[w])) {
      booked.push_back(std::move(usage));
    }
  }
  return booked;
}

// The same of gangs.
std::vector<FlavorLeafUsage> BookedByAll(const GangRequests& requests, const GangAnswers& answers,
                                         const ClusterState& state) {
  std::vector<FlavorLeafUsage> booked;
  for (std::size_t g = 0; g < requests.gangs.size(); ++g) {
    const std::int32_t shape = requests.gangs[g].shape;
    for (int p = 0; p < requests.PodSets(shape); ++p) {
      const bool leader = requests.IsLeader(shape, p);
      const PodSetRequest& pod_set =
          leader ? *requests.At(shape).leader : requests.At(shape).workers;
      for (const LeafShare& share : answers.SharesOf(g)) {
        const Count count = leader ? share.leaders : share.pods;
        if (count == 0) continue;
        booked.push_back({pod_set.flavor,
                          state.Find(pod_set.flavor)->snapshot().LeafIdText(share.leaf),
                          UsageOfPods(pod_set.requests, count)});
      }
    }
  }
  return booked;
}

Result<void> OnlyWithPodsInPlace(const std::vector<WorkloadRequest>& workloads) {
  const auto unplaced = std::ranges::find_if_not(workloads, HasPodsInPlace);
  if (unplaced == workloads.end()) return {};
  return BadInput(fmt::format(
      "workloads: {} (position {}) has neither a replacement nor a previous assignment, "
      "so nothing can be replaced; use Place",
      unplaced->key.ToString(), unplaced - workloads.begin()));
}

// Where a thread answers a batch of gangs. The memory is used again by its next, unless it is more
// than a thread should sit on.
class AnswersOfThisThread {
 public:
  AnswersOfThisThread() = default;
  ~AnswersOfThisThread() {
    constexpr std::size_t kMostKept = std::size_t{1} << 20;  // entries of a column
    if (answers_.shares.capacity() > kMostKept || answers_.status.capacity() > kMostKept) {
      answers_ = {};
    }
    answers_.failures.clear();
  }
  AnswersOfThisThread(const AnswersOfThisThread&) = delete;
  AnswersOfThisThread& operator=(const AnswersOfThisThread&) = delete;

  GangAnswers& Get() { return answers_; }

 private:
  static thread_local GangAnswers answers_;
};

thread_local GangAnswers AnswersOfThisThread::answers_;

Answered AnswerGangs(const GangRequests& requests, const ClusterState& state, Backend& backend,
                     PlacementMode mode, bool commit, GangAnswers& answers) {
  if (mode == PlacementMode::kNominate) {
    GangBatch batch(state, requests.shapes);
    batch.Nominate(backend, requests.gangs, answers);
    return {RowsToProto(requests, batch, answers, state), {}};
  }
  ClusterState scratch = state.Branch();
  GangBatch batch(scratch, requests.shapes);
  batch.PlaceInOrder(backend, scratch, requests.gangs, answers);
  Answered answered{RowsToProto(requests, batch, answers, state), {}};
  if (commit) answered.booked = BookedByAll(requests, answers, state);
  return answered;
}

Result<Answered> AnswerWorkloads(const std::vector<WorkloadRequest>& workloads,
                                 const ClusterState& state, const Engine& engine,
                                 PlacementMode mode, const LeafIndex& leaf_index, bool commit) {
  std::vector<WorkloadAnswer> answers;
  if (mode == PlacementMode::kNominate) {
    answers = engine.Nominate(state, workloads);
  } else {
    ClusterState scratch = state.Branch();
    answers = engine.PlaceInOrder(scratch, workloads);
  }
  auto batch = ToProto(workloads, answers, leaf_index);
  if (!batch) return tl::unexpected(batch.error());
  Answered answered{*std::move(batch), {}};
  if (commit) answered.booked = BookedByAll(workloads, answers);
  return answered;
}

}  // namespace

PlacementService::PlacementService(Calls& calls, StateStore& store,
                                   std::shared_ptr<Backend> backend, FeatureGates gates)
    : calls_(calls), store_(store), backend_(std::move(backend)), gates_(gates) {}

grpc::ServerUnaryReactor* PlacementService::Place(grpc::CallbackServerContext* context,
                                                  const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* response) {
  return Run(context, *request, Workloads::kAny, *response);
}

grpc::ServerUnaryReactor* PlacementService::Replace(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  return Run(context, *request, Workloads::kWithPodsInPlace, *response);
}

grpc::ServerUnaryReactor* PlacementService::Run(grpc::CallbackServerContext* context,
                                                const grpc::ByteBuffer& request, Workloads which,
                                                grpc::ByteBuffer& response) {
  // Goes with the work, after the answer went out. Not on an arena: under the thread sanitizer
  // protobuf's headers lay out maps otherwise than its library does, which only arenas show.
  auto message = std::make_shared<v1::PlaceRequest>();
  return calls_.Run(context, [this, &request, which, &response, message = std::move(message)] {
    grpc::ByteBuffer bytes(request);
    grpc::Status read =
        grpc::SerializationTraits<v1::PlaceRequest>::Deserialize(&bytes, message.get());
    return read.ok() ? Answer(*message, which, response) : read;
  });
}

grpc::Status PlacementService::Answer(const v1::PlaceRequest& request, Workloads which,
                                      grpc::ByteBuffer& bytes) {
  std::optional<StatePosition> position;
  if (request.has_state()) position = FromProto(request.state());
  const auto snapshot = store_.At(position);
  if (!snapshot) return StoreStatus(snapshot.error(), store_);
  const ClusterState& state = (*snapshot)->state;

  const auto mode = ReadMode(request);
  if (!mode) return ToStatus(mode.error());
  const auto leaf_index = ReadNaming(request, state);
  if (!leaf_index) return ToStatus(leaf_index.error());
  const auto gates = ApplyFeatureGates(request.feature_gates(), gates_);
  if (!gates) return ToStatus(gates.error());

  Result<Answered> answered;
  std::optional<GangRequests> gangs;
  AnswersOfThisThread gang_answers;
  if (which == Workloads::kAny && *leaf_index) {
    ExpansionBudget budget{kMaxBatchBytes};
    gangs = ReadGangs(request.workloads(), state, *gates, *(*snapshot)->shapes, budget);
  }
  if (gangs) {
    answered = AnswerGangs(*gangs, state, *backend_, *mode, request.commit(), gang_answers.Get());
  } else {
    ExpansionBudget budget{kMaxBatchBytes};
    const auto workloads = FromProto(request.workloads(), budget);
    if (!workloads) return ToStatus(workloads.error());
    if (which == Workloads::kWithPodsInPlace) {
      if (const auto checked = OnlyWithPodsInPlace(*workloads); !checked) {
        return ToStatus(checked.error());
      }
    }
    answered = AnswerWorkloads(*workloads, state, Engine(backend_, *gates), *mode, *leaf_index,
                               request.commit());
  }
  if (!answered) return ToStatus(answered.error());

  // Before anything is booked for an answer that cannot be sent.
  constexpr std::size_t kMostShareBytes = 10;  // a leaf and a number
  const std::size_t size =
      gangs ? gang_answers.Get().shares.size() * kMostShareBytes : answered->answers.ByteSizeLong();
  if (size > kMostAnswerBytes) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED,
            fmt::format("the answer may take {} bytes, more than the {} that can be sent: ask for "
                        "less at once",
                        size, kMostAnswerBytes)};
  }
  v1::PlaceResponse response;
  if (request.commit()) {
    const auto committed = store_.Book((*snapshot)->position, answered->booked);
    if (!committed) return StoreStatus(committed.error(), store_);
    *response.mutable_committed() = ToProto(*committed);
  }
  *response.mutable_state() = ToProto((*snapshot)->position);
  if (gangs) {
    bytes = ToBytes(response, answered->answers, *gangs, gang_answers.Get());
  } else {
    *response.mutable_answers() = std::move(answered->answers);
    bytes = ToBytes(response);
  }
  return grpc::Status::OK;
}

}  // namespace espalier
