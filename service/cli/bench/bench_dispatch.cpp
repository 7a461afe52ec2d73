#include "service/cli/bench/bench_dispatch.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "bench/scenarios/answer_digest.hpp"
#include "bench/scenarios/run_gangs.hpp"
#include "service/cli/bench/bench_server.hpp"

namespace espalier {
namespace {

constexpr int kClusters = 10;

// A cluster where one part in ten of what runs in the scenario's has ended.
ClusterStateInput ClusterOf(const ClusterStateInput& all, int cluster) {
  ClusterStateInput input = all;
  input.tas_usage.clear();
  for (std::size_t i = 0; i < all.tas_usage.size(); ++i) {
    if (i % kClusters != static_cast<std::size_t>(cluster)) {
      input.tas_usage.push_back(all.tas_usage[i]);
    }
  }
  return input;
}

Result<void> Check(const grpc::Status& status) {
  if (status.ok()) return {};
  return tl::unexpected(Error{ErrorClass::kInternal, status.error_message()});
}

// Returns whether each gang is answered on a state as Place answers it on that state alone.
bool Agree(const v1::DispatchResponse& dispatched, std::uint32_t state,
           const v1::AnswerBatch& alone) {
  for (int i = 0; i < dispatched.workloads_size(); ++i) {
    const auto& fits = dispatched.workloads(i).fits();
    const auto fit = std::ranges::find(fits, state, &v1::StateFit::state);
    if (fit == fits.end()) return false;
    const bool placed = alone.outcomes(i) == v1::POD_SET_OUTCOME_PLACED;
    if (placed != (fit->status() == v1::FIT_STATUS_FITS)) return false;
    const std::int64_t domains = alone.domain_offsets(i + 1) - alone.domain_offsets(i);
    if (placed && fit->pod_sets(0).domains() != domains) return false;
  }
  return true;
}

}  // namespace

Result<void> RunDispatch(const LoadedScenario& loaded, const RunOptions& options,
                         ScenarioResult& result) {
  const auto server = BenchServer::Start(loaded, options);
  if (!server) return tl::unexpected(server.error());
  v1::DispatchRequest request;
  for (int i = 0; i < kClusters; ++i) {
    const std::string name = fmt::format("cluster-{}", i);
    (*server)->remote().UseState(name);
    const auto load = (*server)->remote().Load(ClusterOf((*server)->input(), i));
    if (!load) return load;
    request.add_states()->set_state_name(name);
  }
  auto place = NominateByNumber(RequestsOf(loaded.mix), loaded.mix.gates);
  if (!place) return tl::unexpected(place.error());
  *request.mutable_workloads() = place->workloads();
  *request.mutable_feature_gates() = place->feature_gates();

  v1::DispatchResponse dispatched;
  std::vector<v1::PlaceResponse> alone(kClusters);
  Result<void> called;
  result.floor_stage = "call";
  result.stages = Repeat(options.repeat, [&](StageTimes& times) {
    if (!called) return;
    times.Time("call", [&] {
      grpc::ClientContext context;
      called = Check((*server)->dispatching().Dispatch(&context, request, &dispatched));
    });
    times.Time("alone", [&] {
      for (int i = 0; i < kClusters && called; ++i) {
        place->set_state_name(request.states(i).state_name());
        grpc::ClientContext context;
        called = Check(
            (*server)->placement().Place(&context, *place, &alone[static_cast<std::size_t>(i)]));
      }
    });
  });
  if (!called) return called;
  Sha256 sha;
  sha.Add(dispatched.workloads_size());
  for (const v1::WorkloadFits& fits : dispatched.workloads()) sha.Add(fits.SerializeAsString());
  result.digest = sha.Hex();
  if (!options.check) return {};
  for (std::uint32_t i = 0; i < kClusters; ++i) {
    if (Agree(dispatched, i, alone[i].answers())) continue;
    result.problems.push_back(fmt::format("cluster-{} is answered otherwise than alone", i));
  }
  if (result.problems.empty()) {
    result.checks.emplace_back("every cluster is answered as alone");
  }
  return {};
}

}  // namespace espalier
