#include "host/kueue/cycle/nomination.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/kueue/cycle/partial_counts.hpp"
#include "host/kueue/objects/delayed_topology.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

// The reason that Kueue gives in the QuotaReserved condition.
std::string PendingReason(const FlavorAssignment& flavors, AssignmentMode mode,
                          bool empty_state_failed) {
  if (empty_state_failed) return "TopologyPlacementFailed";
  if (mode == AssignmentMode::kPreempt) return "WaitingForQuota";
  for (const PodSetFlavors& pod_set : flavors.pod_sets) {
    for (const FlavorRefusal& refusal : pod_set.refusals) {
      if (refusal.kind == FlavorRefusal::Kind::kExceedsQuota) return "ExceedsMaxQuota";
    }
  }
  return "NoMatchingFlavor";
}

// Records why the placement failed with the pod set it failed for (R21.2).
void RefuseTopology(FlavorAssignment& flavors, const PodSetAnswer& failure) {
  PodSetFlavors* pod_set = flavors.Find(failure.name);
  pod_set->mode = std::min(pod_set->mode, AssignmentMode::kPreempt);
  pod_set->refusals.push_back({FlavorRefusal::Kind::kTopology, failure.failure->reason});
}

// Leaves of the pods of a tree those that were placed, which may be fewer than it may have.
void KeepPlaced(PodSetAssignment& assignment) {
  const std::int64_t pods =
      assignment.topology_assignment ? TotalPods(*assignment.topology_assignment) : 0;
  const std::int32_t asked = assignment.count.value_or(0);
  if (asked <= 0 || pods >= asked) return;
  Resources used;
  for (const auto& [resource, amount] : assignment.resource_usage) {
    used.Set(resource, amount / asked * pods);
  }
  assignment.resource_usage = std::move(used);
  assignment.count = static_cast<std::int32_t>(pods);
}

}  // namespace

Admission MakeAdmission(const Nomination& nomination, const std::string& cluster_queue) {
  Admission admission;
  admission.cluster_queue = cluster_queue;
  const auto placed = ByName(nomination.answer.pod_sets);
  const std::unordered_set<std::string_view> delayed(nomination.delayed.begin(),
                                                     nomination.delayed.end());
  for (const PodSetFlavors& flavors : nomination.flavors.pod_sets) {
    PodSetAssignment& assignment = admission.pod_set_assignments.emplace_back();
    assignment.name = flavors.name;
    assignment.flavors = flavors.flavors;
    assignment.resource_usage = flavors.requests;
    assignment.count = flavors.count;
    if (const PodSetAnswer* answer = FindOrNull(placed, flavors.name)) {
      assignment.topology_assignment = answer->assignment;
    }
    if (nomination.answer.tree && !delayed.contains(flavors.name)) KeepPlaced(assignment);
    if (delayed.contains(flavors.name)) assignment.delayed_topology_request = kDelayPending;
  }
  return admission;
}

Nomination Nominator::Nominate(const Workload& workload, const FlavorChoiceContext& context) {
  Nomination full =
      Judge(workload, context.queue, ChooseFlavors(workload, PendingCounts(workload), context),
            EmptyState::kTry);
  if (context.replaced_slice != nullptr) return full;  // R21.13
  const PartialCounts partial(workload);
  if (full.mode == AssignmentMode::kFit || partial.Range() == 0) return full;

  std::optional<Nomination> last_fit;
  const std::int64_t found = FindPartialCounts(partial, [&](std::int64_t index) {
    Nomination attempt =
        Judge(workload, context.queue, ChooseFlavors(workload, partial.At(index), context),
              EmptyState::kSkip);
    if (attempt.mode != AssignmentMode::kFit) return false;
    last_fit = std::move(attempt);
    return true;
  });
  return found <= partial.Range() ? *std::move(last_fit) : full;
}

Nomination Nominator::NominateOn(const Workload& workload, const ClusterQueue& queue,
                                 FlavorAssignment flavors) {
  return Judge(workload, queue, std::move(flavors), EmptyState::kTry);
}

Nomination Nominator::Judge(const Workload& workload, const ClusterQueue& queue,
                            FlavorAssignment flavors, EmptyState empty_state) {
  Nomination result;
  result.mode = flavors.Mode();
  result.flavors = std::move(flavors);
  if (engine_.budget().stopped()) return result;
  bool empty_state_failed = false;
  if (result.mode != AssignmentMode::kNoFit) {
    auto request = BuildWorkloadRequest(
        workload, result.flavors, {lookup_, engine_.gates(), &queue, engine_.budget(), rules_});
    if (!request) {
      result.mode = AssignmentMode::kNoFit;
      result.message = std::move(request.error());
    } else {
      result.request = std::move(*request);
      result.delayed = TakeDelayed(result.request, workload, queue, lookup_);
    }
  }
  const bool uses_topology = !result.request.pod_sets.empty();
  if (result.mode == AssignmentMode::kFit && uses_topology) {
    result.answer = Evaluate(workload, result.request, false);
    if (const PodSetAnswer* failure = result.answer.FirstFailure()) {
      RefuseTopology(result.flavors, *failure);
      result.mode = AssignmentMode::kPreempt;
    }
  }
  if (result.mode == AssignmentMode::kPreempt && uses_topology && empty_state == EmptyState::kTry &&
      workload.unhealthy_nodes.empty()) {
    result.answer = Evaluate(workload, result.request, true);
    empty_state_failed = !Fits(result.answer);
    if (empty_state_failed) result.mode = AssignmentMode::kNoFit;  // the text stays (R18.9)
  }
  if (result.mode != AssignmentMode::kFit) {
    if (result.message.empty()) result.message = result.flavors.Message();
    result.pending_reason = PendingReason(result.flavors, result.mode, empty_state_failed);
  }
  return result;
}

WorkloadAnswer Nominator::Evaluate(const Workload& workload, WorkloadRequest& request,
                                   bool simulate_empty) {
  request.simulate_empty = simulate_empty;
  const bool seen = !workload.uid.empty() && !evaluated_.insert(workload.uid).second;
  request.affinity_scores_consumed = seen && engine_.gates().cache_node_match_results;
  return engine_.NominateOne(state_, request);
}

}  // namespace espalier
