#include "service/server/scheduling_service.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "service/server/found_state.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/resizing.hpp"
#include "service/wire/scheduling.hpp"

namespace espalier {
namespace {

// Returns what is held, but for workloads that the cluster has with usage of their own: their
// controller reports them here, whether or not it has confirmed their holds.
std::vector<FlavorLeafUsage> HeldBesides(const Cluster& cluster, const LoadedInput& loaded) {
  std::vector<FlavorLeafUsage> held;
  if (loaded.holds.empty()) return held;
  const ClusterLookup lookup(cluster);
  std::set<ObjectKey> reported;
  for (const Workload& workload : cluster.workloads) {
    if (!TasUsage(workload, lookup).empty()) reported.insert(workload.key);
  }
  for (const auto& hold : loaded.holds) {
    if (reported.contains(hold->workload)) continue;
    held.insert(held.end(), hold->usage.begin(), hold->usage.end());
  }
  return held;
}

// Gives `cluster`, which has queues and workloads, the nodes, topologies, flavors and Configuration
// that were loaded; the state has the usage of its workloads, of the pods of no workload that were
// loaded, and of holds.
Result<ClusterState> StateOf(Cluster& cluster, LoadedInput loaded, const Engine& engine) {
  cluster.topologies = std::move(loaded.input.topologies);
  cluster.flavors = std::move(loaded.input.flavors);
  cluster.nodes = std::move(loaded.input.nodes);
  if (loaded.configuration != nullptr) cluster.configuration = loaded.configuration->configuration;
  const std::vector<FlavorLeafUsage> held = HeldBesides(cluster, loaded);
  auto state =
      BuildState(cluster, engine.gates(), engine.budget(), std::move(loaded.input.non_tas_usage));
  if (state) state->ChangeUsage(held, 1, engine.gates().handle_overlapping_flavors);
  return state;
}

Result<SchedulingCyclesResult> RunOnLoaded(Cluster cluster, LoadedInput loaded,
                                           const Engine& engine,
                                           const SchedulingCyclesOptions& options) {
  auto state = StateOf(cluster, std::move(loaded), engine);
  if (!state) return tl::unexpected(state.error());
  auto decided = RunSchedulingCycles(std::move(cluster), *std::move(state), engine, options);
  if (engine.budget().stopped()) return tl::unexpected(engine.budget().Check().error());
  return decided;
}

// A Configuration that names the gate of a resize decides about it, as a request does.
FeatureGates ResizeDefaultsOf(const FeatureGateMap& named, const SharedConfiguration& configuration,
                              const FeatureGates& of_server) {
  constexpr const char* kGate = "ElasticJobsViaWorkloadSlicesWithTAS";
  if (configuration != nullptr && configuration->configuration.feature_gates.contains(kGate)) {
    return configuration->gates;
  }
  return ResizeDefaults(named, GatesOf(configuration, of_server));
}

Result<SchedulingCyclesOptions> OptionsOf(const v1::CycleRequest& request) {
  const int profile = request.profile();
  if (profile != v1::PLACEMENT_PROFILE_UNSPECIFIED && profile != v1::PLACEMENT_PROFILE_KUEUE &&
      profile != v1::PLACEMENT_PROFILE_ESPALIER) {
    return BadInput(fmt::format("profile: is {}; KUEUE (1) or ESPALIER (2) expected", profile));
  }
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return SchedulingCyclesOptions{
      .until_stable = request.until_stable(),
      .joint_replacement = profile == v1::PLACEMENT_PROFILE_ESPALIER,
      .admissibility = {
          .now_seconds = request.has_now_seconds()
                             ? request.now_seconds()
                             : std::chrono::duration_cast<std::chrono::seconds>(now).count(),
          .release_stopped = request.release_stopped()}};
}

}  // namespace

SchedulingService::SchedulingService(Calls& calls, NamedStates& states,
                                     std::shared_ptr<Backend> backend, FeatureGates gates)
    : calls_(calls), states_(states), backend_(std::move(backend)), gates_(gates) {}

grpc::ServerUnaryReactor* SchedulingService::Cycle(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request,
                                                   grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::CycleRequest, v1::CycleResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::CycleRequest& message, WorkBudget& budget, v1::CycleResponse& answer) {
        return Decide(message, budget, answer);
      });
}

grpc::ServerUnaryReactor* SchedulingService::PlanResize(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request,
                                                        grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::PlanResizeRequest, v1::PlanResizeResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::PlanResizeRequest& message, WorkBudget& budget,
             v1::PlanResizeResponse& answer) { return Plan(message, budget, answer); });
}

grpc::Status SchedulingService::Plan(const v1::PlanResizeRequest& request, WorkBudget& budget,
                                     v1::PlanResizeResponse& response) {
  if (const auto options = OptionsOf(request.objects()); !options) {
    return ToStatus({options.error().error_class, "objects." + options.error().message});
  }
  auto question = FromProto(request, budget);
  if (!question) return ToStatus(question.error());
  LoadedInput loaded;
  const auto found = FindLoaded(states_, request.objects(), budget, loaded);
  if (!found.ok()) return found;
  const auto& named = request.objects().feature_gates();
  const auto gates =
      ApplyFeatureGates(named, ResizeDefaultsOf(named, loaded.configuration, gates_));
  if (!gates) return ToStatus(gates.error());
  const Engine engine(backend_, *gates, budget);
  const StatePosition position = loaded.position;
  auto state = StateOf(question->cluster, std::move(loaded), engine);
  if (!state) return ToStatus(state.error());
  const auto plan =
      espalier::PlanResize(question->cluster, *std::move(state), engine, question->request);
  if (!plan) return ToStatus(plan.error());
  auto planned = ToProto(*plan);
  if (!planned) return ToStatus(planned.error());
  response = *std::move(planned);
  *response.mutable_state() = ToProto(position);
  return grpc::Status::OK;
}

grpc::Status SchedulingService::Decide(const v1::CycleRequest& request, WorkBudget& budget,
                                       v1::CycleResponse& response) {
  const auto options = OptionsOf(request);
  if (!options) return ToStatus(options.error());
  auto cluster = FromProto(request, budget);
  if (!cluster) return ToStatus(cluster.error());

  LoadedInput loaded;
  if (const auto found = FindLoaded(states_, request, budget, loaded); !found.ok()) return found;
  const auto gates =
      ApplyFeatureGates(request.feature_gates(), GatesOf(loaded.configuration, gates_));
  if (!gates) return ToStatus(gates.error());
  const StatePosition position = loaded.position;
  const auto result = RunOnLoaded(*std::move(cluster), std::move(loaded),
                                  Engine(backend_, *gates, budget), *options);
  if (!result) return ToStatus(result.error());
  auto decided = ToProto(*result);
  if (!decided) return ToStatus(decided.error());
  response = *std::move(decided);
  *response.mutable_state() = ToProto(position);
  return grpc::Status::OK;
}

}  // namespace espalier
