#include "host/what_if/removal_trial.hpp"

#include <algorithm>
#include <utility>

#include "host/engine/workload_placement.hpp"

namespace espalier {

bool IsOneGroup(const WorkloadRequest& request) {
  if (request.tree) return false;
  const std::vector<PodSetRequest>& pod_sets = request.pod_sets;
  if (request.replacement && request.replacement->joint &&
      request.replacement->unhealthy_nodes.size() > 1) {
    return false;  // slices that have lost pods on several nodes are placed one by one
  }
  if (pod_sets.size() == 1) return true;
  return pod_sets.size() == 2 && !request.replacement && pod_sets[0].group &&
         pod_sets[0].group == pod_sets[1].group && pod_sets[0].flavor == pod_sets[1].flavor;
}

bool NeedsOnlyRoom(const PlacementJob& job) {
  const PlacementQuery& query = job.query;
  return FitTracker::CanTrack(job) && query.slices() > 0 &&
         (query.required || (query.leaders == 0 && !query.balanced));
}

RemovalTrial::RemovalTrial(const Engine& engine, const ClusterState& state,
                           const WorkloadRequest& request, std::span<const Victim> victims,
                           const VictimsByFlavor& held)
    : engine_(engine),
      state_(state),
      request_(request),
      victims_(victims),
      removed_(victims.size(), false),
      booked_out_(victims.size(), false) {
  Track(held);
}

// Finds out whether the request's first job depends on usage, and whether it decides alone if
// the request fits; tracks it where that is possible.
void RemovalTrial::Track(const VictimsByFlavor& held) {
  is_constant_ = request_.simulate_empty;
  if (request_.tree) return;  // no one job decides it
  WorkloadPlacement placement(request_, state_, engine_.gates(), engine_.budget());
  const PlacementJob* job = placement.NextJob();
  is_constant_ = job == nullptr || job->simulate_empty;
  decides_ = IsOneGroup(request_);
  if (is_constant_ || !FitTracker::CanTrack(*job)) return;
  job_ = *job;
  tracker_.emplace(*job_, engine_.backend());
  const auto found = std::ranges::find(held, job_->state, &VictimsOnFlavor::flavor);
  if (found != held.end()) held_ = &*found;
}

void RemovalTrial::Set(std::size_t victim, bool removed) {
  removed_[victim] = removed;
  set_.push_back(victim);
  const bool changed =
      !is_constant_ &&
      (!tracker_ || tracker_->Change(HeldBy(victim), removed ? 1 : -1) || !decides_);
  if (changed) fits_.reset();
}

void RemovalTrial::TakeBack(std::size_t victim, bool removed, bool fitted) {
  Set(victim, removed);
  fits_ = fitted;
}

bool RemovalTrial::Fits() {
  if (!fits_) fits_ = Evaluate();
  return *fits_;
}

bool RemovalTrial::Evaluate() {
  const FitBound bound = tracker_ ? tracker_->Bound() : FitBound::kOpen;
  if (bound == FitBound::kNo) return false;
  if (bound == FitBound::kYes && decides_) return true;
  return Place().FirstFailure() == nullptr;
}

WorkloadAnswer RemovalTrial::Place() {
  if (!branch_) {
    Result<ClusterState> branch = state_.Branch(engine_.budget());
    if (!branch) return {};  // the budget is stopped
    branch_ = *std::move(branch);
  }
  for (const std::size_t v : std::exchange(set_, {})) {
    if (removed_[v] == booked_out_[v]) continue;
    booked_out_[v] = removed_[v];
    if (removed_[v]) {
      branch_->RemoveUsage(victims_[v].usage);
    } else {
      branch_->AddUsage(victims_[v].usage);
    }
  }
  return engine_.NominateOne(*branch_, request_);
}

}  // namespace espalier
