#include "service/server/scheduling_service.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "host/kueue/cluster_input.hpp"
#include "host/kueue/scheduling_cycle.hpp"
#include "service/server/store_status.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/scheduling.hpp"

namespace espalier {
namespace {

// Cycles over the queues and workloads of `cluster` on the nodes, topologies, flavors and pods of
// no workload that were loaded.
Result<SchedulingCyclesResult> RunOnLoaded(Cluster cluster, ClusterStateInput loaded,
                                           const Engine& engine,
                                           const SchedulingCyclesOptions& options) {
  cluster.nodes = std::move(loaded.nodes);
  cluster.topologies = std::move(loaded.topologies);
  cluster.flavors = std::move(loaded.flavors);
  ClusterStateInput input = BuildClusterStateInput(cluster, engine.gates());
  input.non_tas_usage = std::move(loaded.non_tas_usage);
  auto state = ClusterState::Build(input, engine.budget());
  if (!state) return tl::unexpected(state.error());
  auto decided = RunSchedulingCycles(std::move(cluster), *std::move(state), engine, options);
  if (engine.budget().stopped()) return tl::unexpected(engine.budget().Check().error());
  return decided;
}

SchedulingCyclesOptions OptionsOf(const v1::CycleRequest& request) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.until_stable = request.until_stable(),
          .admissibility = {
              .now_seconds = request.has_now_seconds()
                                 ? request.now_seconds()
                                 : std::chrono::duration_cast<std::chrono::seconds>(now).count(),
              .release_stopped = request.release_stopped()}};
}

}  // namespace

SchedulingService::SchedulingService(Calls& calls, StateStore& store,
                                     std::shared_ptr<Backend> backend, FeatureGates gates)
    : calls_(calls), store_(store), backend_(std::move(backend)), gates_(gates) {}

grpc::ServerUnaryReactor* SchedulingService::Cycle(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::CycleRequest, v1::CycleResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::CycleRequest& message, WorkBudget& budget, v1::CycleResponse& answer) {
        return Decide(message, budget, answer);
      });
}

grpc::Status SchedulingService::Decide(const v1::CycleRequest& request, WorkBudget& budget,
                                       v1::CycleResponse& response) {
  const auto gates = ApplyFeatureGates(request.feature_gates(), gates_);
  if (!gates) return ToStatus(gates.error());
  auto cluster = FromProto(request, budget);
  if (!cluster) return ToStatus(cluster.error());

  std::optional<StatePosition> position;
  if (request.has_state()) position = FromProto(request.state());
  auto loaded = store_.LoadedAt(position, budget);
  if (!loaded) return StoreStatus(loaded.error(), store_);
  const auto result = RunOnLoaded(*std::move(cluster), std::move(loaded->input),
                                  Engine(backend_, *gates, budget), OptionsOf(request));
  if (!result) return ToStatus(result.error());
  auto decided = ToProto(*result);
  if (!decided) return ToStatus(decided.error());
  response = *std::move(decided);
  *response.mutable_state() = ToProto(loaded->position);
  return grpc::Status::OK;
}

}  // namespace espalier
