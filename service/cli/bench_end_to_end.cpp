#include "service/cli/bench_end_to_end.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "bench/scenarios/answer_checks.hpp"
#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "espalier/v1/placement.grpc.pb.h"
#include "host/engine/assignments.hpp"
#include "host/engine/engine.hpp"
#include "host/packing/flavor_state.hpp"
#include "service/client/remote_engine.hpp"
#include "service/server/server.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/gangs.hpp"
#include "service/wire/place_response.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;

// A folder for the socket that goes away with this object.
class SocketFolder {
 public:
  SocketFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "espalier-bench-XXXXXX");
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~SocketFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;

  bool made() const { return !path_.empty(); }
  std::string address() const { return "unix:" + path_ + "/socket"; }

 private:
  std::string path_;
};

// What one call asks and gets.
class Caller {
 public:
  virtual ~Caller() = default;
  virtual Result<void> Call() = 0;
  // Whether the last call's answer says what `answers` say.
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
  ColumnsCaller(const std::string& address, const std::vector<WorkloadRequest>& requests,
                v1::WorkloadBatch batch, const FeatureGates& gates, LeafIndex leaf_index)
      : requests_(requests), leaf_index_(std::move(leaf_index)) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(std::numeric_limits<int>::max());
    stub_ = v1::Placement::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    request_.set_mode(v1::PLACEMENT_MODE_NOMINATE);
    request_.set_domain_naming(v1::DOMAIN_NAMING_INDEX);
    WriteFeatureGates(gates, *request_.mutable_feature_gates());
    *request_.mutable_workloads() = std::move(batch);
  }

  Result<void> Call() override {
    grpc::ClientContext context;
    const grpc::Status status = stub_->Place(&context, request_, &response_);
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
  std::unique_ptr<v1::Placement::Stub> stub_;
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

// Whether answers in words are the columns `gangs`.
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
  const SocketFolder folder;
  if (!folder.made()) {
    return tl::unexpected(Error{ErrorClass::kUnavailable,
                                fmt::format("no folder for a socket: {}", std::strerror(errno))});
  }
  const Result<std::shared_ptr<Backend>> backend = options.make_backend();
  if (!backend) return tl::unexpected(backend.error());
  const auto server = Server::Start({.listen = {folder.address()}}, *backend);
  if (!server) return tl::unexpected(server.error());
  Result<RemoteEngine> remote = RemoteEngine::Connect(folder.address());
  if (!remote) return tl::unexpected(remote.error());
  {
    ClusterStateInput input = loaded.cluster.Input();
    input.nodes = loaded.cluster.Nodes();
    input.tas_usage = UsageOf(loaded.prefill, loaded.cluster);
    if (auto load = remote->Load(input); !load) return load;
  }

  const FlavorSnapshot& snapshot = loaded.flavor().snapshot();
  const LeafIndex leaf_index = [&](const std::string&, const std::vector<std::string>& values) {
    const LeafId leaf = snapshot.FindLeaf(DomainIdText(values));
    return leaf.valid() ? std::optional(leaf.value) : std::nullopt;
  };
  const std::vector<WorkloadRequest> requests = RequestsOf(loaded.mix);
  // Answers come by position: names would only stand in the text of an error.
  std::vector<WorkloadRequest> unnamed = requests;
  for (WorkloadRequest& request : unnamed) request.key = {};
  const Result<v1::WorkloadBatch> batch = ToProto(unnamed);
  if (!batch) return tl::unexpected(batch.error());
  const bool words = result.scenario.variant == "words";
  std::unique_ptr<Caller> caller;
  if (words) {
    caller = std::make_unique<WordsCaller>(*remote, requests, loaded.mix.gates);
  } else {
    caller = std::make_unique<ColumnsCaller>(folder.address(), requests, *batch, loaded.mix.gates,
                                             leaf_index);
  }

  const Engine engine(*backend, loaded.mix.gates);
  std::vector<WorkloadAnswer> answers;
  WorkBudget budget(kMostBytes);
  KnownGangShapes known;
  const std::optional<GangRequests> read =
      ReadGangs(*batch, loaded.state, loaded.mix.gates, known, budget);
  if (!read) return BadInput("the mix is more than gangs: it cannot be sent as columns");
  GangBatch gang_batch(loaded.state, read->shapes);
  GangAnswers gangs;
  Result<void> called;
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    if (!called) return;
    const double start = Now();
    called = caller->Call();
    const double call = Now() - start;
    gang_batch.Nominate(**backend, read->gangs, gangs);
    const double compute = Now() - start - call;
    times.Add("call", call);
    times.Add("compute", compute);
    times.Add("wire", std::max(call - compute, 0.0));
    if (words) {
      times.Time("words", [&] { answers = engine.Nominate(loaded.state, requests); });
      times.Time("parse", [&] { FromWords(*batch, called); });
      times.Time("serialise", [&] { ToWords(requests, answers, leaf_index, called); });
    } else {
      times.Time("parse", [&] {
        WorkBudget fresh{kMostBytes};
        ReadGangs(*batch, loaded.state, loaded.mix.gates, known, fresh);
      });
      times.Time("serialise", [&] {
        ToBytes({}, RowsToProto(*read, gang_batch, gangs, loaded.state), *read, gangs);
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
  for (const auto& shape : read->shapes) shapes.push_back(shape->words);
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
