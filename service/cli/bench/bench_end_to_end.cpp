#include "service/cli/bench/bench_end_to_end.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <grpcpp/grpcpp.h>

#include "bench/scenarios/answer_checks.hpp"
#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "host/engine/assignments.hpp"
#include "host/engine/engine.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/cli/bench/bench_server.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/gangs.hpp"
#include "service/wire/place_response.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;

// A kind of call, which keeps the answer that came last.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual Result<void> Call() = 0;
  // Returns whether the last call's answer says what `answers` say.
  virtual bool Agrees(const std::vector<WorkloadAnswer>& answers) = 0;
};

class WordsCaller : public Caller {
 public:
  WordsCaller(RemoteEngine& remote, const std::vector<WorkloadRequest>& requests,
              const FeatureGates& gates)
      : remote_(remote), requests_(requests), gates_(gates) {}

  Result<void> Call() override {
    auto answers = remote_.Place(requests_, PlacementMode::kNominate, gates_);
    if (!answers) return tl::unexpected(answers.error());
    answers_ = *std::move(answers);
    return {};
  }
  bool Agrees(const std::vector<WorkloadAnswer>& answers) override { return answers_ == answers; }

 private:
  RemoteEngine& remote_;
  const std::vector<WorkloadRequest>& requests_;
  const FeatureGates& gates_;
  std::vector<WorkloadAnswer> answers_;
};

class ColumnsCaller : public Caller {
 public:
  ColumnsCaller(v1::Placement::Stub& stub, const std::vector<WorkloadRequest>& requests,
                v1::PlaceRequest request, LeafIndex leaf_index)
      : requests_(requests),
        leaf_index_(std::move(leaf_index)),
        stub_(stub),
        request_(std::move(request)) {}

  Result<void> Call() override {
    grpc::ClientContext context;
    const grpc::Status status = stub_.Place(&context, request_, &response_);
    if (status.ok()) return {};
    return tl::unexpected(Error{ErrorClass::kInternal, status.error_message()});
  }
  bool Agrees(const std::vector<WorkloadAnswer>& answers) override {
    const auto batch = ToProto(requests_, answers, leaf_index_);
    return batch && batch->SerializeAsString() == response_.answers().SerializeAsString();
  }

 private:
  const std::vector<WorkloadRequest>& requests_;
  LeafIndex leaf_index_;
  v1::Placement::Stub& stub_;
  v1::PlaceRequest request_;
  v1::PlaceResponse response_;
};

// The server's conversions of words, for their time; the first error stays in `result`.
void FromWords(const v1::WorkloadBatch& batch, Result<void>& result) {
  WorkBudget budget(kMostBytes);
  const auto requests = FromProto(batch, budget);
  if (!requests) result = tl::unexpected(requests.error());
}
void ToWords(const std::vector<WorkloadRequest>& requests,
             const std::vector<WorkloadAnswer>& answers, const LeafIndex& leaf_index,
             Result<void>& result) {
  const auto batch = ToProto(requests, answers, leaf_index);
  if (!batch) result = tl::unexpected(batch.error());
}

// Returns whether answers in words say what the columns `gangs` say.
bool SameAnswers(const std::vector<WorkloadAnswer>& answers, const GangAnswers& gangs,
                 const FlavorSnapshot& snapshot) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto& assignment = answers[i].pod_sets.front().assignment;
    if (assignment.has_value() != (gangs.status[i] == PlacementStatus::kPlaced)) return false;
    if (assignment && !std::ranges::equal(ToShares(*assignment, snapshot), gangs.SharesOf(i))) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<void> RunEndToEnd(const LoadedScenario& loaded, const RunOptions& options,
                         ScenarioResult& result) {
  const auto server = BenchServer::Start(loaded, options);
  if (!server) return tl::unexpected(server.error());
  const std::shared_ptr<Backend>& backend = (*server)->backend();

  const FlavorSnapshot& snapshot = loaded.flavor().snapshot();
  const LeafIndex leaf_index = LeavesOf(snapshot);
  const std::vector<WorkloadRequest> requests = RequestsOf(loaded.mix);
  const Result<v1::PlaceRequest> call_request = NominateByNumber(requests, loaded.mix.gates);
  if (!call_request) return tl::unexpected(call_request.error());
  const v1::WorkloadBatch& batch = call_request->workloads();
  const bool words = result.scenario.variant == "words";
  std::unique_ptr<Caller> caller;
  if (words) {
    caller = std::make_unique<WordsCaller>((*server)->remote(), requests, loaded.mix.gates);
  } else {
    caller = std::make_unique<ColumnsCaller>((*server)->placement(), requests, *call_request,
                                             leaf_index);
  }

  const Engine engine(backend, loaded.mix.gates);
  std::vector<WorkloadAnswer> answers;
  WorkBudget budget(kMostBytes);
  ResolvedShapeCache known;
  const std::optional<GangRequests> read =
      ReadGangs(batch, loaded.state, loaded.mix.gates, known, budget);
  if (!read) return BadInput("the mix is more than gangs: it cannot be sent as columns");
  GangBatch gang_batch(loaded.state, read->shapes);
  GangAnswers gangs;
  Result<void> called;
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    if (!called) return;
    const double start = Now();
    called = caller->Call();
    const double call = Now() - start;
    gang_batch.Nominate(*backend, read->gangs, gangs);
    const double compute = Now() - start - call;
    times.Add("call", call);
    times.Add("compute", compute);
    times.Add("wire", std::max(call - compute, 0.0));
    if (words) {
      times.Time("words", [&] { answers = engine.Nominate(loaded.state, requests); });
      times.Time("parse", [&] { FromWords(batch, called); });
      times.Time("serialise", [&] { ToWords(requests, answers, leaf_index, called); });
    } else {
      times.Time("parse", [&] {
        WorkBudget fresh{kMostBytes};
        ReadGangs(batch, loaded.state, loaded.mix.gates, known, fresh);
      });
      times.Time("serialise", [&] {
        ToBytes({}, RowsToProto(*read, gang_batch, gangs, loaded.state, false), *read, gangs,
                loaded.state);
      });
    }
  });
  if (!words) answers = engine.Nominate(loaded.state, requests);
  if (!called) return called;

  result.digest = DigestOf(gangs, gangs.status.size());
  result.quality = QualityOf(loaded, gangs, nullptr);
  if (!options.check) return {};
  if (caller->Agrees(answers) && SameAnswers(answers, gangs, snapshot)) {
    result.checks.emplace_back("the server's answers equal the engine's");
  } else {
    result.problems.emplace_back("the server's answers differ from the engine's");
  }
  std::vector<GangShape> shapes;
  for (const auto& shape : read->shapes) shapes.push_back(shape->specification);
  auto problems = CheckAnswers({.before = loaded.flavor(),
                                .in_order = false,
                                .after = nullptr,
                                .shapes = shapes,
                                .gangs = read->gangs,
                                .answers = gangs});
  if (problems.empty()) result.checks.emplace_back("capacity, all or nothing and levels are kept");
  std::ranges::move(problems, std::back_inserter(result.problems));
  ComparePlainForm(
      options, [&](std::size_t first) { return DigestOf(gangs, first); }, result);
  return {};
}

}  // namespace espalier
