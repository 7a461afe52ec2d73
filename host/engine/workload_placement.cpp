#include "host/engine/workload_placement.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "host/engine/failure_text.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/model/by_name.hpp"
#include "host/model/go_texts.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

namespace {

// Takes the usage of every leaf away.
void RemoveUsage(FlavorState& state) {
  const FlavorSnapshot& snapshot = state.snapshot();
  const auto columns = static_cast<std::int32_t>(snapshot.resources().size());
  for (std::int32_t leaf = 0; leaf < snapshot.leaf_count(); ++leaf) {
    Resources used;
    for (std::int32_t column = 0; column < columns; ++column) {
      const Amount amount =
          state.Usage(static_cast<std::size_t>(column * snapshot.stride() + leaf));
      if (amount != 0) used.Set(snapshot.resources()[static_cast<std::size_t>(column)], amount);
    }
    if (!used.empty()) state.Remove(LeafId(leaf), used);
  }
}

}  // namespace

bool ChargeNames(std::size_t domains, WorkBudget& budget) {
  constexpr std::int64_t kBytesOfDomain = 160;
  return budget.Charge(static_cast<std::int64_t>(domains) * kBytesOfDomain);
}

bool ChargeDomains(std::size_t domains, WorkBudget& budget) {
  constexpr std::int64_t kLeastAnswerBytesOfDomain = 2;
  return ChargeNames(domains, budget) &&
         budget.ChargeAnswer(static_cast<std::int64_t>(domains) * kLeastAnswerBytesOfDomain);
}

WorkloadPlacement::WorkloadPlacement(const WorkloadRequest& request, const ClusterState& state,
                                     const FeatureGates& gates, WorkBudget& budget)
    : request_(request), gates_(gates), budget_(budget) {
  if (gates_.handle_overlapping_flavors) {
    given_ = AssumedUsage(request.assumed_usage);
    shared_ = given_;
  }
  if (request.replacement) admitted_ = ByName(request.replacement->admitted);
  SplitByFlavor(state);
  if (request.previous_pods_first) {
    for (part_ = 0; part_ < parts_.size(); ++part_) {
      if (SharesUsage()) AssumePreviousPods(shared_);
    }
    part_ = 0;
  }
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
  shares_usage_ = SharesUsage();
  private_ = shares_usage_ ? AssumedUsage() : AssumedUsage(given_, snapshot());
  if (request_.previous_pods_first && !shares_usage_) AssumePreviousPods(private_);
}

void WorkloadPlacement::LeaveFlavor() {
  if (own_.state == nullptr) return;
  assumed().BookOn(nullptr);
  own_.state.reset();
  budget_.Release(std::exchange(own_.bytes, 0));
}

bool WorkloadPlacement::MakeOwnState() {
  const FlavorState& state = *parts_[part_].state;
  own_.bytes = state.Bytes();
  if (!budget_.Charge(own_.bytes)) return false;
  own_.state = state.Branch();
  if (SimulatesEmpty()) RemoveUsage(*own_.state);
  assumed().BookOn(own_.state.get());
  return true;
}

void WorkloadPlacement::EndFlavor() {
  LeaveFlavor();
  ++part_;
  EnterFlavor();
}

const PlacementJob* WorkloadPlacement::NextJob() {
  job_.reset();
  budget_.Release(std::exchange(assumed_bytes_, 0));
  while (!job_ && part_ < parts_.size() && !budget_.stopped()) {
    if (damage_) {
      ContinueJointReplacement();
    } else if (group_ == parts_[part_].groups.size()) {
      EndFlavor();
    } else {
      StartGroup(parts_[part_].groups[group_++]);
    }
  }
  return job_ && !budget_.stopped() ? &*job_ : nullptr;
}

void WorkloadPlacement::AssignRoles(const Group& group) {
  workers_ = group.members.front();
  leader_ = nullptr;
  if (group.members.size() != 2) return;
  leader_ = group.members.back();
  if (LeaderComesFirst(workers_->count, leader_->count)) std::swap(workers_, leader_);
}

void WorkloadPlacement::StartGroup(const Group& group) {
  AssignRoles(group);
  if (request_.replacement) return StartReplacement(*workers_);
  if (group.members.size() > 2) {
    // The first may be no member by name but by its index (R15.4).
    const PodSetRequest& named = workers_->group ? *workers_ : *group.members.back();
    const std::string text =
        fmt::format("undefined upstream: pod set group {} has {} pod sets, more than two (R15.5)",
                    Quoted(*named.group), group.members.size());
    for (const PodSetRequest* member : group.members) Fail(*member, {text, std::nullopt});
    return EndFlavor();
  }
  if (!StartResize()) StartPlacement(Purpose::kPlace, *workers_, leader_, workers_->count);
}

bool WorkloadPlacement::KeepsPreviousPods() const {
  if (!gates_.elastic_jobs_via_workload_slices_with_tas || !workers_->previous_assignment) {
    return false;
  }
  if (FirstStaleDomain(*workers_->previous_assignment, snapshot()) != nullptr) return false;
  return leader_ == nullptr || !leader_->previous_assignment ||
         FirstStaleDomain(*leader_->previous_assignment, snapshot()) == nullptr;
}

void WorkloadPlacement::AssumePreviousPods(AssumedUsage& usage) {
  for (const Group& group : parts_[part_].groups) {
    AssignRoles(group);
    if (!KeepsPreviousPods()) continue;
    usage.Add(*workers_->previous_assignment, workers_->requests);
    if (leader_ != nullptr && leader_->previous_assignment) {
      usage.Add(*leader_->previous_assignment, leader_->requests);
    }
  }
}

// R16.1 to R16.6.
bool WorkloadPlacement::StartResize() {
  if (!KeepsPreviousPods()) return false;
  const TopologyAssignment& previous = *workers_->previous_assignment;
  const auto* leader_previous =
      leader_ != nullptr && leader_->previous_assignment ? &*leader_->previous_assignment : nullptr;
  const std::int64_t previous_pods = TotalPods(previous);
  if (workers_->count <= previous_pods) {
    KeepPrevious(previous_pods);
    return true;
  }
  // The domains that stay are part of the answer.
  if (!ChargeDomains(previous.domains.size(), budget_)) return true;
  if (!request_.previous_pods_first) {
    assumed().Add(previous, workers_->requests);
    if (leader_previous != nullptr) assumed().Add(*leader_previous, leader_->requests);
  }
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
  SharedValue<TopologyAssignment> kept = previous;
  if (workers_->count < previous_pods) kept = Truncate(*previous, workers_->count);
  // The domains that stay are part of the answer.
  std::size_t domains = kept->domains.size();
  if (leader_ != nullptr) domains += leader_->previous_assignment->domains.size();
  if (!ChargeDomains(domains, budget_)) return;
  if (request_.previous_pods_first) {  // they are assumed already
    Answer(*workers_, std::move(kept));
    if (leader_ != nullptr) Answer(*leader_, leader_->previous_assignment);
    return;
  }
  AnswerAndAssume(*workers_, std::move(kept));
  if (leader_ != nullptr) AnswerAndAssume(*leader_, leader_->previous_assignment);
}

void WorkloadPlacement::StartPlacement(Purpose purpose, const PodSetRequest& pod_set,
                                       const PodSetRequest* leader, Count pods) {
  purpose_ = purpose;
  const auto resolved = MakePlacementTemplate(pod_set, leader, snapshot(), gates_, budget_);
  if (!resolved) {
    const PlacementFailure failure{resolved.error(), std::nullopt};
    if (purpose != Purpose::kPlace) {
      Fail(*workers_, failure);
      return EndFlavor();
    }
    return FailGroup(failure);
  }
  const FlavorPart& part = parts_[part_];
  const bool own = books_ && part.groups.size() > kManyPodSets && part.state->IsExact();
  if (own && own_.state == nullptr && !MakeOwnState()) return;
  PlacementJob& job = job_.emplace(MakeJob(*resolved, own ? *own_.state : *part.state,
                                           snapshot().FilterOf(*resolved->shape, budget_),
                                           std::max<Count>(pods, 0), budget_));
  job.simulate_empty = !own && SimulatesEmpty();
  job.affinity_scores = !request_.affinity_scores_consumed;
  if (own) return;
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
  // The domains that stay are part of the answer.
  if (!ChargeDomains(existing->domains.size(), budget_)) return;
  node_ = replacement.unhealthy_nodes.front();
  if (replacement.joint && replacement.unhealthy_nodes.size() > 1) {
    const std::vector<std::string_view> failed = NodesIn(*existing, replacement.unhealthy_nodes);
    if (failed.empty()) return Answer(pod_set, existing);
    if (failed.size() > 1) {
      auto damage = TakeOut(*existing, failed, snapshot());
      if (!damage) return FailReplacement({damage.error(), std::nullopt});
      damage_ = *std::move(damage);
      return;
    }
    node_ = failed.front();
  }
  auto plan = PlanReplacement(pod_set, *existing, node_, snapshot());
  if (!plan) return FailReplacement({plan.error(), std::nullopt});
  kept_ = std::move(plan->remaining);
  StartPlacement(Purpose::kReplace, plan->request, nullptr, plan->request.count);
  if (job_) job_->replacement_domain = plan->domain;
}

void WorkloadPlacement::ContinueJointReplacement() {
  auto plan = PlanJointReplacement(*workers_, *damage_, snapshot(), gates_);
  if (!plan) return FailReplacement({plan.error(), std::nullopt});
  StartPlacement(Purpose::kReplaceJointly, plan->request, nullptr, plan->request.count);
  if (!job_) return;
  job_->replacement_domain = plan->domain;
  job_->query.balanced = false;  // it may lose pods on the way down (R14.19)
}

void WorkloadPlacement::Accept(const PlacementResult& result) {
  switch (purpose_) {
    case Purpose::kPlace:
      return AcceptPlacement(result);
    case Purpose::kScaleUp:
      return AcceptScaleUp(result);
    case Purpose::kReplace:
      return AcceptReplacement(result);
    case Purpose::kReplaceJointly:
      return AcceptJointReplacement(result);
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
    return FailReplacement(DescribeFailure(*job_, result));
  }
  if (result.shares.empty()) {  // R17.10
    return FailReplacement(
        {fmt::format("cannot find replacement assignment for unhealthy node: {}", node_),
         std::nullopt});
  }
  Answer(*workers_, ToAssignment(MergeShares(result.shares, kept_), false, snapshot()));
  assumed().Add(ToAssignment(result.shares, false, snapshot()), workers_->requests);
}

void WorkloadPlacement::AcceptJointReplacement(const PlacementResult& result) {
  if (result.status != PlacementStatus::kPlaced) {
    return FailReplacement(DescribeFailure(*job_, result));
  }
  const TopologyAssignment added = ToAssignment(result.shares, false, snapshot());
  const std::int64_t placed = TotalPods(added);
  if (placed != job_->query.pods) {  // R12.4
    return FailReplacement(
        {fmt::format("cannot find replacement assignment for unhealthy nodes: {}",
                     fmt::join(request_.replacement->unhealthy_nodes, ", ")),
         std::nullopt});
  }
  assumed().Add(added, workers_->requests);
  damage_->remaining = MergeShares(result.shares, damage_->remaining);
  damage_->lost -= placed;
  if (damage_->lost > 0) return;  // there is more to place
  Answer(*workers_, ToAssignment(damage_->remaining, false, snapshot()));
  damage_.reset();
}

void WorkloadPlacement::FailReplacement(PlacementFailure failure) {
  damage_.reset();
  Fail(*workers_, std::move(failure));
  EndFlavor();
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
