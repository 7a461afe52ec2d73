#include "service/server/dispatch_service.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "host/model/excerpt.hpp"
#include "host/what_if/dispatch.hpp"
#include "service/server/found_state.hpp"
#include "service/server/status_with_position.hpp"
#include "service/wire/dispatch.hpp"
#include "service/wire/feature_gates.hpp"
#include "service/wire/workloads.hpp"

namespace espalier {
namespace {

Result<void> CheckStates(const v1::DispatchRequest& request) {
  std::set<std::string> names;
  for (int i = 0; i < request.states_size(); ++i) {
    const std::string& name = request.states(i).state_name();
    if (!names.insert(name).second) {
      return BadInput(
          fmt::format("states[{}].state_name: \"{}\" comes twice; distinct ones "
                      "expected",
                      i, Excerpt(name)));
    }
  }
  return {};
}

Result<void> CheckUnplaced(const std::vector<WorkloadRequest>& workloads) {
  const auto placed = std::ranges::find_if(workloads, HasPodsInPlace);
  if (placed == workloads.end()) return {};
  return BadInput(
      fmt::format("workloads: {} (position {}) has pods in place, which bind it to its "
                  "cluster; use Replace there",
                  Excerpt(placed->key.ToString()), placed - workloads.begin()));
}

// The workloads that ask for a flavor which the state does not have.
std::vector<KnownFit> WithoutFlavor(const std::vector<WorkloadRequest>& workloads,
                                    const ClusterState& state, WorkBudget& budget) {
  std::vector<KnownFit> known;
  for (std::size_t i = 0; i < workloads.size() && budget.MayContinue(); ++i) {
    const auto& pod_sets = workloads[i].pod_sets;
    const auto missing = std::ranges::find_if(pod_sets, [&](const PodSetRequest& pod_set) {
      return state.Find(pod_set.flavor) == nullptr;
    });
    if (missing == pod_sets.end()) continue;
    known.push_back(
        {i, FitStatus::kDoesNotFit,
         fmt::format("the state has no flavor \"{}\" with a topology", Excerpt(missing->flavor))});
    budget.Charge(static_cast<std::int64_t>(sizeof(KnownFit) + known.back().reason.size()));
  }
  return known;
}

}  // namespace

grpc::Status FindDispatchTargets(const NamedStates& states, const v1::DispatchRequest& request,
                                 std::vector<DispatchTarget>& asked) {
  if (const auto checked = CheckStates(request); !checked) return ToStatus(checked.error());
  for (const v1::DispatchState& named : request.states()) {
    asked.push_back({named.state_name(), nullptr});
    const auto store = states.Find(named.state_name());
    if (!store || (*store)->Current()->position.generation == 0) continue;
    auto snapshot = (*store)->At(PositionOf(named));
    if (!snapshot) return StatusWithPosition(snapshot.error(), **store);
    asked.back().snapshot = *std::move(snapshot);
  }
  if (request.states().empty()) {
    for (const auto& [name, store] : states.All()) {
      auto current = store->Current();
      asked.push_back({name, current->position.generation > 0 ? std::move(current) : nullptr});
    }
  }
  return grpc::Status::OK;
}

DispatchService::DispatchService(Calls& calls, const NamedStates& states,
                                 std::shared_ptr<Backend> backend, FeatureGates gates)
    : calls_(calls), states_(states), backend_(std::move(backend)), gates_(gates) {}

grpc::ServerUnaryReactor* DispatchService::Dispatch(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request,
                                                    grpc::ByteBuffer* response) {
  return calls_.RunParsed<v1::DispatchRequest, v1::DispatchResponse>(
      context, calls_.queue(), request, response,
      [this](const v1::DispatchRequest& message, WorkBudget& budget, v1::DispatchResponse& answer) {
        return Answer(message, budget, answer);
      });
}

grpc::Status DispatchService::Answer(const v1::DispatchRequest& request, WorkBudget& budget,
                                     v1::DispatchResponse& response) {
  std::vector<DispatchTarget> asked;
  if (grpc::Status found = FindDispatchTargets(states_, request, asked); !found.ok()) return found;
  const auto workloads = FromProto(request.workloads(), budget);
  if (!workloads) return ToStatus(workloads.error());
  if (const auto checked = CheckUnplaced(*workloads); !checked) return ToStatus(checked.error());

  std::vector<DispatchCluster> clusters;
  for (const DispatchTarget& state : asked) {
    DispatchCluster& cluster = clusters.emplace_back();
    cluster.name = state.name;
    const auto gates = ApplyFeatureGates(
        request.feature_gates(),
        state.snapshot == nullptr ? gates_ : GatesOf(state.snapshot->configuration, gates_));
    if (!gates) return ToStatus(gates.error());
    if (state.snapshot == nullptr) continue;
    cluster.gates = *gates;
    cluster.state = &state.snapshot->state;
    cluster.requests = *workloads;
    cluster.known = WithoutFlavor(*workloads, state.snapshot->state, budget);
  }
  const auto dispatched = espalier::Dispatch(clusters, workloads->size(), backend_, budget);
  if (const auto done = budget.Check(); !done) return ToStatus(done.error());
  response = ToProto(dispatched);
  for (const DispatchTarget& state : asked) {
    v1::DispatchState& row = *response.add_states();
    row.set_state_name(state.name);
    if (state.snapshot != nullptr) *row.mutable_state() = ToProto(state.snapshot->position);
  }
  return grpc::Status::OK;
}

}  // namespace espalier
