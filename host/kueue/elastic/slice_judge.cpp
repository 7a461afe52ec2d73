#include "host/kueue/elastic/slice_judge.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "host/kueue/cycle/admissibility.hpp"
#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/workload_status.hpp"

namespace espalier {
namespace {

// Whatever is requeued at some time is so by now.
constexpr AdmissibilityOptions kAnyTime{.now_seconds = std::numeric_limits<std::int64_t>::max()};

}  // namespace

SliceJudge::SliceJudge(Cluster& cluster, std::optional<ClusterState> state,
                       const ClusterLookup& lookup, LeafPaths& paths, const Engine& engine,
                       ResizeProfile profile, std::vector<std::string>& notes)
    : cluster_(cluster),
      lookup_(lookup),
      paths_(paths),
      engine_(engine),
      profile_(profile),
      notes_(notes) {
  if (state) SetState(*std::move(state));
}

void SliceJudge::SetState(ClusterState state) {
  state_.emplace(std::move(state), SharedFlavors(cluster_, lookup_, engine_.gates()));
}

void SliceJudge::Forget(const Workload& ended) {
  if (!state_) return;
  state_->Replace(TasUsage(ended, lookup_), {});
  state_->EndCycle();
}

Result<void> SliceJudge::Begin(const Workload& current) {
  current_ = &current;
  if (!state_) {
    auto built = BuildState(cluster_, engine_.gates(), engine_.budget());
    if (!built) return tl::unexpected(built.error());
    SetState(*std::move(built));
  }
  held_ = TasUsage(current, lookup_);
  return {};
}

void SliceJudge::CountHeldOnce() {
  rules_.previous_pods_first = true;
  state_->Replace(std::move(held_), {});
  state_->EndCycle();
}

std::optional<std::string> SliceJudge::WhyNoHead(const Workload& workload) const {
  return Admissibility(cluster_, lookup_, kAnyTime).WhyNoHead(workload);
}

// A queue that is stopped admits no slice either (R21.14).
std::optional<std::string> SliceJudge::WhyQueueIsStopped(const Workload& slice) const {
  const Admissibility admissibility(cluster_, lookup_, kAnyTime);
  if (auto reason = admissibility.WhyNoHead(slice)) return reason;
  const ClusterQueue* queue = lookup_.Queue(current_->admission->cluster_queue);
  if (queue == nullptr || !admissibility.WhyInactive(*queue)) return std::nullopt;
  return fmt::format("ClusterQueue {} is inactive", queue->name);
}

const ClusterQueue& SliceJudge::Queue() {
  const std::string& name = current_->admission->cluster_queue;
  if (const ClusterQueue* queue = lookup_.Queue(name)) {
    if (!quota_) {
      quota_.emplace(*queue);
      for (const Workload& workload : cluster_.workloads) {
        if (HasReservation(workload) && workload.admission->cluster_queue == name) {
          quota_->Add(QuotaUsageOf(workload));
        }
      }
    }
    return *queue;
  }
  if (!stand_in_queue_) {
    notes_.push_back(
        fmt::format("ClusterQueue {} is not in the input: quota is not looked at", name));
    stand_in_queue_ = QueueOfRecordedFlavors(*current_);
  }
  return *stand_in_queue_;
}

void SliceJudge::FollowQuota(const QuotaUsage& before) {
  if (!quota_) return;
  quota_->Remove(before);
  quota_->Add(QuotaUsageOf(*current_));
}

Nomination SliceJudge::Judge(const Workload& slice) {
  if (!slice.refusal.empty()) return {.message = slice.refusal};
  if (auto reason = WhyQueueIsStopped(slice)) return {.message = *std::move(reason)};
  const ClusterQueue& queue = Queue();
  Nominator nominator(engine_, state_->state(), lookup_, rules_);
  return nominator.Nominate(
      slice, {lookup_, queue, quota_ ? &*quota_ : nullptr, current_, {}, engine_.budget()});
}

Nomination SliceJudge::JudgeNear(const Workload& slice) {
  if (profile_ == ResizeProfile::kKueue) return Judge(slice);
  Nomination result;
  for (const Workload& variant : NearVariants(slice, *current_, lookup_, cluster_, paths_)) {
    result = Judge(variant);
    if (result.mode == AssignmentMode::kFit) break;
  }
  return result;
}

bool SliceJudge::FitsWithHeldOnce(const Workload& slice) {
  if (held_.empty()) return false;
  CountHeldOnce();
  return Judge(slice).mode == AssignmentMode::kFit;
}

}  // namespace espalier
