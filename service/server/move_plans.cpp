#include "service/server/move_plans.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/engine/defragment.hpp"
#include "host/kueue/drain.hpp"
#include "host/model/excerpt.hpp"
#include "service/server/store_status.hpp"
#include "service/wire/questions.hpp"

namespace espalier {
namespace {

// Leaves of all flavors that any of some nodes would be part of. Whether it is does not matter:
// pods stay on nodes that were cordoned, became unready or no longer match the flavor.
class LeavesOf {
 public:
  LeavesOf(const ClusterState& state, const std::vector<Node>& nodes) {
    for (const std::string_view name : state.FlavorNames()) {
      std::span<const std::string> levels = state.Find(name)->snapshot().levels();
      if (levels.back() == kHostnameLabel) levels = levels.last(1);  // R4.1
      for (const Node& node : nodes) {
        const std::vector<std::string> values = LevelValues(node, levels);
        if (!values.empty()) leaves_.emplace(name, DomainIdText(values));
      }
    }
  }

  // Counts the pod slots of a workload, all and those on the leaves.
  std::pair<std::int64_t, std::int64_t> PodsOf(const AdmittedUsage& workload) const {
    std::pair<std::int64_t, std::int64_t> pods;
    for (const FlavorLeafUsage& entry : workload.usage) {
      const std::int64_t slots = PodSlotsOf({&entry, 1});
      pods.first += slots;
      if (leaves_.contains({entry.flavor, entry.leaf})) pods.second += slots;
    }
    return pods;
  }

 private:
  std::set<std::pair<std::string, std::string>> leaves_;
};

// Fills in which workloads are hit, and returns those.
std::set<ObjectKey> WriteHits(const Snapshot& snapshot, const LeavesOf& leaves,
                              v1::DrainResponse& response) {
  std::set<ObjectKey> hit;
  std::vector<const AdmittedUsage*> admitted = snapshot.admitted->ByKey();
  std::ranges::stable_sort(admitted, std::greater(), &AdmittedUsage::priority);
  for (const AdmittedUsage* workload : admitted) {
    const auto [pods, pods_hit] = leaves.PodsOf(*workload);
    if (pods_hit == 0) continue;
    hit.insert(workload->key);
    v1::HitWorkload& row = *response.add_hits();
    *row.mutable_workload() = ToProto(workload->key);
    row.set_priority(workload->priority);
    row.set_pods(pods);
    row.set_pods_hit(pods_hit);
  }
  return hit;
}

// Writes a plan whose gangs are the workloads at `positions`.
Result<void> Write(const DefragmentPlan& plan, std::span<const std::uint32_t> positions,
                   const AskedWorkloads& asked, v1::DefragmentResponse& response) {
  response.set_flavor(plan.flavor);
  response.set_domains(plan.domains);
  response.set_free_already(plan.free_already);
  response.set_out_of_reach(plan.out_of_reach);
  std::vector<WorkloadRequest> moved;
  std::vector<WorkloadAnswer> answers;
  for (const FreedDomain& freed : plan.freed) {
    v1::FreedDomain& row = *response.add_freed();
    row.mutable_values()->Assign(freed.values.begin(), freed.values.end());
    for (const DefragmentMove& move : freed.moves) {
      row.add_moves(positions[move.gang]);
      moved.push_back(asked.workloads[positions[move.gang]]);
      answers.push_back(move.answer);
    }
  }
  for (const ObjectKey& key : plan.staying) *response.add_staying() = ToProto(key);
  auto batch = ToProto(moved, answers, asked.leaf_index, *asked.budget);
  if (!batch) return tl::unexpected(batch.error());
  *response.mutable_answers() = *std::move(batch);
  return {};
}

}  // namespace

grpc::Status PlanDrain(const v1::DrainRequest& request, const AskedWorkloads& asked,
                       v1::DrainResponse& response) {
  if (auto once = CheckAskedOnce(asked.workloads); !once) return ToStatus(once.error());
  const StatePosition& position = asked.found.position();
  StateStore& store = *asked.found.store;
  auto nodes = store.NodesAt(position, {request.nodes().begin(), request.nodes().end()});
  if (!nodes) return StoreStatus(nodes.error(), store);
  *response.mutable_state() = ToProto(position);
  const std::set<ObjectKey> hit =
      WriteHits(*asked.found.snapshot, LeavesOf(asked.state(), *nodes), response);
  for (Node& node : *nodes) node.unschedulable = true;
  Result<ClusterState> state = store.WithNodes(position, *std::move(nodes), *asked.budget);
  if (!state) return StoreStatus(state.error(), store);
  std::vector<WorkloadRequest> moved;
  for (std::size_t w = 0; w < asked.workloads.size(); ++w) {
    const ObjectKey& key = asked.workloads[w].key;
    const AdmittedUsage* known = asked.found.snapshot->admitted->Find(key);
    if (known == nullptr) {
      return ToStatus({ErrorClass::kNotFound,
                       fmt::format("workloads: {} (position {}) is not an admitted workload that "
                                   "the state knows",
                                   Excerpt(key.ToString()), w)});
    }
    if (!hit.contains(key)) continue;
    state->ChangeUsage(known->usage, -1, asked.shares_usage());
    response.add_moved(static_cast<std::uint32_t>(w));
    moved.push_back(asked.workloads[w]);
  }
  const std::vector<WorkloadAnswer> answers = asked.MakeEngine().PlaceInOrder(*state, moved);
  if (!asked.budget->Pause()) return ToStatus(asked.budget->Check().error());
  auto batch = ToProto(moved, answers, asked.leaf_index, *asked.budget);
  if (!batch) return ToStatus(batch.error());
  *response.mutable_answers() = *std::move(batch);
  return grpc::Status::OK;
}

grpc::Status PlanDefragment(const v1::DefragmentRequest& request, const AskedWorkloads& asked,
                            v1::DefragmentResponse& response) {
  if (auto once = CheckAskedOnce(asked.workloads); !once) return ToStatus(once.error());
  *response.mutable_state() = ToProto(asked.found.position());
  std::vector<HoldingGang> gangs;
  std::vector<std::uint32_t> positions;  // in the request, of those that are described
  std::set<ObjectKey> described;         // jobs
  const AdmittedWorkloads& admitted = *asked.found.snapshot->admitted;
  const auto add = [&](HoldingGang gang) {
    gangs.push_back(std::move(gang));
    asked.budget->Charge(
        static_cast<std::int64_t>(gangs.back().usage.size() * sizeof(FlavorLeafUsage)));
    return asked.budget->Pause();
  };
  for (std::size_t w = 0; w < asked.workloads.size(); ++w) {
    const WorkloadRequest& workload = asked.workloads[w];
    const auto position = static_cast<std::uint32_t>(w);
    if (admitted.Find(workload.key) == nullptr) {
      response.add_unknown(position);
      continue;
    }
    if (!described.insert(admitted.JobOf(workload.key)).second) {
      return ToStatus({ErrorClass::kBadInput,
                       fmt::format("workloads: {} (position {}) is a slice of the same job as one "
                                   "before it; name one of them, and all slices move",
                                   Excerpt(workload.key.ToString()), w)});
    }
    positions.push_back(position);
    if (!add({workload.key, admitted.WholeJob(workload.key).usage, workload})) break;
  }
  for (const AdmittedUsage* workload : admitted.ByKey()) {
    if (described.contains(admitted.JobOf(workload->key))) continue;
    if (!add({workload->key, workload->usage, std::nullopt})) break;
  }
  if (asked.budget->stopped()) return ToStatus(asked.budget->Check().error());
  Result<ClusterState> state = asked.state().Branch(*asked.budget);
  if (!state) return ToStatus(state.error());
  const auto plan = espalier::PlanDefragment(*std::move(state), std::move(gangs),
                                             {.level = request.level(),
                                              .flavor = request.flavor(),
                                              .most_moves = request.most_moves(),
                                              .shared = asked.shares_usage()},
                                             asked.MakeEngine());
  if (!plan) return ToStatus(plan.error());
  if (auto written = Write(*plan, positions, asked, response); !written) {
    return ToStatus(written.error());
  }
  return grpc::Status::OK;
}

}  // namespace espalier
