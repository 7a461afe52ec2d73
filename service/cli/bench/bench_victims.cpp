#include "service/cli/bench/bench_victims.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "bench/scenarios/victims.hpp"
#include "host/live/admitted_workloads.hpp"
#include "host/what_if/prefix_search.hpp"
#include "service/cli/bench/bench_server.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/tables.hpp"

namespace espalier {
namespace {

constexpr std::size_t kFewCandidates = 1000;
constexpr std::size_t kCheckedGangs = 16;
constexpr const char* kNamespace = "bench";

// Loads the cluster once more, with what runs as workloads that are known by name.
Result<void> LoadRunning(const std::vector<Victim>& running, BenchServer& server) {
  ClusterStateInput input = server.input();
  input.tas_usage.clear();
  std::vector<AdmittedUsage> workloads;
  for (const Victim& gang : running) {
    workloads.push_back(InOrder({{kNamespace, gang.name}, 0, 0, gang.usage}));
  }
  return server.remote().Load(input, workloads);
}

Result<v1::FindVictimsRequest> RequestOf(const std::vector<WorkloadRequest>& requests,
                                         std::span<const Victim> candidates,
                                         const FeatureGates& gates) {
  auto place = NominateByNumber(requests, gates);
  if (!place) return tl::unexpected(place.error());
  v1::FindVictimsRequest request;
  request.set_domain_naming(place->domain_naming());
  *request.mutable_feature_gates() = place->feature_gates();
  *request.mutable_workloads() = std::move(*place->mutable_workloads());
  v1::Victims& victims = *request.mutable_victims();
  StringTable strings(victims.mutable_strings());
  for (const Victim& candidate : candidates) {
    victims.add_namespaces(strings.Ref(std::string_view(kNamespace)));
    victims.add_names(strings.Ref(candidate.name));
  }
  return request;
}

// Returns a digest of the first `gangs` answers.
std::string DigestOf(const std::vector<v1::FindVictimsResponse>& responses, std::size_t gangs) {
  Sha256 sha;
  for (std::size_t i = 0; i < std::min(gangs, responses.size()); ++i) {
    v1::FindVictimsResponse response = responses[i];
    response.clear_state();
    sha.Add(response.SerializeAsString());
  }
  return sha.Hex();
}

bool Agrees(const v1::FindVictimsResponse& response, const WorkloadRequest& request,
            const PrefixAnswer& found, const LeafIndex& leaf_index) {
  const auto answers = ToProto({&request, 1}, {&found.answer, 1}, leaf_index);
  return answers && response.fits() == found.fits && response.prefix() == found.prefix &&
         std::ranges::equal(response.targets(), found.targets) &&
         answers->SerializeAsString() == response.answers().SerializeAsString();
}

// Compares some of the answers, spread over all of them, with those to each gang alone.
void CheckSome(const LoadedScenario& loaded, const Engine& engine,
               std::span<const Victim> candidates,
               const std::vector<v1::FindVictimsResponse>& responses, ScenarioResult& result) {
  std::vector<WorkloadRequest> requests = RequestsOf(loaded.mix);
  const LeafIndex leaf_index = LeavesOf(loaded.flavor().snapshot());
  const std::size_t checked = std::min(kCheckedGangs, requests.size());
  for (std::size_t i = 0; i < checked; ++i) {
    const std::size_t gang = requests.size() * i / checked;
    requests[gang].key = {};
    const auto found = FindPrefix(engine, loaded.state, requests[gang], candidates);
    if (found && Agrees(responses[gang], requests[gang], *found, leaf_index)) continue;
    result.problems.push_back(fmt::format("gang {} is answered otherwise than alone", gang));
  }
  if (result.problems.empty()) {
    result.checks.push_back(fmt::format("{} of the gangs are answered as alone", checked));
  }
}

}  // namespace

Result<void> RunVictims(const LoadedScenario& loaded, const RunOptions& options,
                        ScenarioResult& result) {
  const auto server = BenchServer::Start(loaded, options);
  if (!server) return tl::unexpected(server.error());
  const std::vector<Victim> running = VictimsOf(loaded, PrefillSeed(result.scenario));
  if (auto load = LoadRunning(running, **server); !load) return load;
  std::span<const Victim> candidates = running;
  if (result.scenario.variant != "all") {
    candidates = candidates.first(std::min(kFewCandidates, candidates.size()));
  }
  const auto request = RequestOf(RequestsOf(loaded.mix), candidates, loaded.mix.gates);
  if (!request) return tl::unexpected(request.error());

  std::vector<v1::FindVictimsResponse> responses;
  Result<void> called;
  result.floor_stage = "call";
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    if (!called) return;
    responses.clear();
    grpc::ClientContext context;
    const double start = Now();
    const auto reader = (*server)->questions().FindVictims(&context, *request);
    for (v1::FindVictimsResponse response; reader->Read(&response);) {
      if (responses.empty()) times.Add("first", Now() - start);
      responses.push_back(std::move(response));
    }
    const grpc::Status status = reader->Finish();
    times.Add("call", Now() - start);
    if (!status.ok()) {
      called = tl::unexpected(Error{ErrorClass::kInternal, status.error_message()});
    }
  });
  if (!called) return called;
  result.digest = DigestOf(responses, responses.size());
  std::int64_t at_once = 0;
  std::int64_t never = 0;
  std::int64_t targets = 0;
  for (const v1::FindVictimsResponse& response : responses) {
    at_once += static_cast<std::int64_t>(response.fits() && response.prefix() == 0);
    never += static_cast<std::int64_t>(!response.fits());
    targets += response.targets_size();
  }
  result.quality = {{"candidates", std::ssize(candidates)},
                    {"at_once", at_once},
                    {"never", never},
                    {"targets", targets}};
  if (!options.check) return {};
  CheckSome(loaded, Engine((*server)->backend(), loaded.mix.gates), candidates, responses, result);
  ComparePlainForm(
      options, [&](std::size_t first) { return DigestOf(responses, first); }, result);
  return {};
}

}  // namespace espalier
