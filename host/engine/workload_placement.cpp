#include "host/engine/workload_placement.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/engine/failure_text.hpp"
#include "host/engine/replacement.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/model/by_name.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
WorkloadPlacement::WorkloadPlacement(const WorkloadRequest& request, const ClusterState& state,
                                     const FeatureGates& gates, WorkBudget& budget)
    : request_(request), gates_(gates), budget_(budget) {
  if (gates_.handle_overlapping_flavors) shared_ = AssumedUsage(request.assumed_usage);
  if (request.replacement) admitted_ = ByName(request.replacement->admitted);
  SplitByFlavor(state);
  EnterFlavor();
}

void WorkloadPlacement::SplitByFlavor(const ClusterState& state) {
  std::map<std::string_view, std::vector<const PodSetRequest*>> by_flavor;
  for (const PodSetRequest& pod_set : request_.pod_sets) {
    by_flavor[pod_set.flavor].push_back(&pod_set);
  }
  for (const auto& [flavor, pod_sets] : by_flavor) {
    FlavorPart part;
    part.state = state.Find(flavor);
    if (part.state == nullptr) {
      Fail(*pod_sets.front(), {UnknownFlavorText(flavor), std::nullopt});
      continue;
    }
    std::map<std::string, std::size_t> group_of;
    for (std::size_t i = 0; i < pod_sets.size(); ++i) {
      // Members of a group keep together, except when each is replaced on its own (R15.9).
      const bool grouped = pod_sets[i]->group && !request_.replacement;
      const std::string key = grouped ? *pod_sets[i]->group : std::to_string(i);
      const auto [it, fresh] = group_of.emplace(key, part.groups.size());
      if (fresh) part.groups.emplace_back();
      part.groups[it->second].members.push_back(pod_sets[i]);
    }
    parts_.push_back(std::move(part));
  }
}

void WorkloadPlacement::EnterFlavor() {
  group_ = 0;
  if (part_ == parts_.size()) return;
  shares_usage_ = gates_.handle_overlapping_flavors && snapshot().host_topology();
  private_ =
      gates_.handle_overlapping_flavors ? AssumedUsage(request_.assumed_usage) : AssumedUsage();
}

void WorkloadPlacement::EndFlavor() {
  ++part_;
  EnterFlavor();
}

const PlacementJob* WorkloadPlacement::NextJob() {
  job_.reset();
  budget_.Release(std::exchange(assumed_bytes_, 0));
  while (!job_ && part_ < parts_.size() && !budget_.stopped()) {
    if (group_ == parts_[part_].groups.size()) {
      EndFlavor();
    } else {
      StartGroup(parts_[part_].groups[group_++]);
    }
  }
  return job_ && !budget_.stopped() ? &*job_ : nullptr;
}

void WorkloadPlacement::StartGroup(const Group& group) {
  workers_ = group.members.front();
  leader_ = nullptr;
  if (request_.replacement) return StartReplacement(*workers_);
  if (group.members.size() > 2) {
    // The first may be no member by name but by its index (R15.4).
    const PodSetRequest& named = workers_->group ? *workers_ : *group.members.back();
    const std::string text =
        fmt::format("undefined upstream: pod set group {} has {} pod sets, more than two (R15.5)",
                    GoQuote(*named.group), group.members.size());
    for (const PodSetRequest* member : group.members) Fail(*member, {text, std::nullopt});
    return EndFlavor();
  }
  if (group.members.size() == 2) {  // R15.5
    leader_ = group.members.back();
    if (leader_->count > workers_->count) std::swap(workers_, leader_);
  }
  if (!StartResize()) StartPlacement(Purpose::kPlace, *workers_, leader_, workers_->count);
}

// R16.1 to R16.6.
bool WorkloadPlacement::StartResize() {
  if (!gates_.elastic_jobs_via_workload_slices_with_tas || !workers_->previous_assignment) {
    return false;
  }
  const TopologyAssignment& previous = *workers_->previous_assignment;
  const auto* leader_previous =
      leader_ != nullptr && leader_->previous_assignment ? &*leader_->previous_assignment : nullptr;
  if (FirstStaleDomain(previous, snapshot()) != nullptr) return false;
  if (leader_previous != nullptr && FirstStaleDomain(*leader_previous, snapshot()) != nullptr) {
    return false;
  }
  const std::int64_t previous_pods = TotalPods(previous);
  if (workers_->count <= previous_pods) {
    KeepPrevious(previous_pods);
    return true;
  }
  assumed().Add(previous, workers_->requests);
  if (leader_previous != nullptr) assumed().Add(*leader_previous, leader_->requests);
  kept_ = ToShares(previous, snapshot());
  StartPlacement(Purpose::kScaleUp, *workers_, leader_previous != nullptr ? nullptr : leader_,
                 workers_->count - previous_pods);
  return true;
}

// Same count or fewer pods: nothing moves and nothing is checked (R16.5, R16.6).
void WorkloadPlacement::KeepPrevious(std::int64_t previous_pods) {
  if (leader_ != nullptr && !leader_->previous_assignment) {
    return FailGroup(
        {"undefined upstream: the leader of a resized group has no previous assignment (R16.6)",
         std::nullopt});
  }
  const SharedValue<TopologyAssignment>& previous = workers_->previous_assignment;
  AnswerAndAssume(
      *workers_, workers_->count < previous_pods ? Truncate(*previous, workers_->count) : previous);
  if (leader_ != nullptr) AnswerAndAssume(*leader_, leader_->previous_assignment);
}

void WorkloadPlacement::StartPlacement(Purpose purpose, const PodSetRequest& pod_set,
                                       const PodSetRequest* leader, Count pods) {
  purpose_ = purpose;
  auto resolved = ResolveRequest(pod_set, snapshot(), gates_);
  if (!resolved) {
    const PlacementFailure failure{resolved.error(), std::nullopt};
    if (purpose != Purpose::kPlace) {
      Fail(*workers_, failure);
      return EndFlavor();
    }
    return FailGroup(failure);
  }
  PlacementJob& job = job_.emplace();
  job.state = parts_[part_].state;
  job.query = resolved->query;
  job.query.pods = std::max<Count>(pods, 0);
  job.query.leaders = leader != nullptr ? 1 : 0;  // R6.9: always one pod
  job.shape = MakeShape(*resolved, pod_set, leader, snapshot(), budget_);
  job.simulate_empty = request_.simulate_empty && purpose != Purpose::kReplace;
  job.affinity_scores = !request_.affinity_scores_consumed;
  job.replacement_domain = {0, snapshot().leaf_count()};
  assumed_bytes_ = assumed().BoundBytes(snapshot());
  if (!budget_.Charge(assumed_bytes_)) return;
  job.assumed = assumed().Bind(snapshot());
}

void WorkloadPlacement::StartReplacement(const PodSetRequest& pod_set) {
  const ReplacementContext& replacement = *request_.replacement;
  const PodSetAssignment* admitted = FindOrNull(admitted_, pod_set.name);
  if (admitted == nullptr || !admitted->topology_assignment) return;  // R17.1
  const SharedValue<TopologyAssignment>& existing = admitted->topology_assignment;
  if (gates_.skip_reassignment_for_pod_owned_workloads && replacement.owned_by_single_pod) {
    return Answer(pod_set, existing);  // R17.2
  }
  auto plan = PlanReplacement(pod_set, *existing, replacement.unhealthy_nodes.front(), snapshot());
  if (!plan) {
    Fail(pod_set, {plan.error(), std::nullopt});
    return EndFlavor();
  }
  kept_ = std::move(plan->remaining);
  StartPlacement(Purpose::kReplace, plan->request, nullptr, plan->request.count);
  if (job_) job_->replacement_domain = plan->domain;
}

void WorkloadPlacement::Accept(const PlacementResult& result) {
  switch (purpose_) {
    case Purpose::kPlace:
      return AcceptPlacement(result);
    case Purpose::kScaleUp:
      return AcceptScaleUp(result);
    case Purpose::kReplace:
      return AcceptReplacement(result);
  }
}

void WorkloadPlacement::AcceptPlacement(const PlacementResult& result) {
  if (result.status != PlacementStatus::kPlaced) return FailGroup(DescribeFailure(*job_, result));
  AnswerAndAssume(*workers_, ToAssignment(result.shares, false, snapshot()));
  if (leader_ != nullptr) AnswerAndAssume(*leader_, ToAssignment(result.shares, true, snapshot()));
}

// R16.4: on failure the leader gets no entry, not even its previous assignment.
void WorkloadPlacement::AcceptScaleUp(const PlacementResult& result) {
  if (result.status != PlacementStatus::kPlaced) {
    Fail(*workers_, DescribeFailure(*job_, result));
    return EndFlavor();
  }
  const TopologyAssignment added = ToAssignment(result.shares, false, snapshot());
  Answer(*workers_,
         ToAssignment(MergeShares(ToShares(added, snapshot()), kept_), false, snapshot()));
  if (leader_ != nullptr) {
    if (leader_->previous_assignment) {
      Answer(*leader_, leader_->previous_assignment);
    } else {
      AnswerAndAssume(*leader_, ToAssignment(result.shares, true, snapshot()));
    }
  }
  assumed().Add(added, workers_->requests);
}

void WorkloadPlacement::AcceptReplacement(const PlacementResult& result) {
  if (result.status != PlacementStatus::kPlaced) {
    Fail(*workers_, DescribeFailure(*job_, result));
    return EndFlavor();
  }
  if (result.shares.empty()) {  // R17.10
    Fail(*workers_, {fmt::format("cannot find replacement assignment for unhealthy node: {}",
                                 request_.replacement->unhealthy_nodes.front()),
                     std::nullopt});
    return EndFlavor();
  }
  Answer(*workers_, ToAssignment(MergeShares(result.shares, kept_), false, snapshot()));
  assumed().Add(ToAssignment(result.shares, false, snapshot()), workers_->requests);
}

void WorkloadPlacement::Answer(const PodSetRequest& pod_set,
                               SharedValue<TopologyAssignment> assignment) {
  answer_.pod_sets.push_back({pod_set.name, pod_set.flavor, std::move(assignment), std::nullopt});
}

void WorkloadPlacement::AnswerAndAssume(const PodSetRequest& pod_set,
                                        SharedValue<TopologyAssignment> assignment) {
  // For the pod sets behind this one.
  if (request_.pod_sets.size() > 1) assumed().Add(*assignment, pod_set.requests);
  Answer(pod_set, std::move(assignment));
}

void WorkloadPlacement::Fail(const PodSetRequest& pod_set, PlacementFailure failure) {
  answer_.pod_sets.push_back({pod_set.name, pod_set.flavor, std::nullopt, std::move(failure)});
}

void WorkloadPlacement::FailGroup(const PlacementFailure& failure) {
  Fail(*workers_, failure);
  if (leader_ != nullptr) Fail(*leader_, failure);
  EndFlavor();
}

WorkloadAnswer WorkloadPlacement::TakeAnswer() {
  if (answer_.pod_sets.size() > 1) {
    const auto pod_sets = ByName(request_.pod_sets);
    std::ranges::stable_sort(answer_.pod_sets, {}, [&](const PodSetAnswer& answer) {
      return pod_sets.at(answer.name);  // they lie in spec order
    });
  }
  return std::move(answer_);
}

}  // namespace espalier
