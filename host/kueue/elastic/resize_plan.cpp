#include "host/kueue/elastic/resize_plan.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/cycle/nomination.hpp"
#include "host/kueue/elastic/folded_slices.hpp"
#include "host/kueue/elastic/job_slices.hpp"
#include "host/kueue/elastic/new_slices.hpp"
#include "host/kueue/elastic/shrunk_workload.hpp"
#include "host/kueue/elastic/slice_judge.hpp"
#include "host/kueue/elastic/slice_placement.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/delayed_topology.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// Each slice per replica is an object of its own, and judged on its own.
constexpr std::int64_t kMostNewReplicas = 10000;

using Counts = std::vector<std::int64_t>;  // of pod sets, in spec order

Counts PodSetCounts(const Workload& workload) {
  Counts counts;
  for (const PodSet& pod_set : workload.pod_sets) counts.push_back(pod_set.count);
  return counts;
}

void SetCounts(const Counts& counts, Workload& workload) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    workload.pod_sets[i].count = static_cast<std::int32_t>(counts[i]);
  }
}

bool AnyGrows(const Counts& from, const Counts& to) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (to[i] > from[i]) return true;
  }
  return false;
}

// Says whether what was refused can never be admitted, whatever room there is (R20.3).
bool IsUnsupported(const Nomination& nomination) {
  return nomination.message.ends_with("is not supported with ElasticJobsViaWorkloadSlices");
}

// The unfinished workloads of one job.
struct Family {
  std::vector<Workload*> slices;    // that replace one another, oldest first
  std::vector<Workload*> replicas;  // slices per replica, by name
};

class ResizePlanner {
 public:
  ResizePlanner(Cluster& cluster, std::optional<ClusterState> state, const Engine& engine,
                const ResizeRequest& request)
      : cluster_(cluster),
        engine_(engine),
        request_(request),
        lookup_(cluster_),
        names_(cluster_.workloads, request.workload.namespace_),
        judge_(cluster, std::move(state), lookup_, paths_, engine, request.profile, plan_.notes) {}
  ResizePlanner(const ResizePlanner&) = delete;
  ResizePlanner& operator=(const ResizePlanner&) = delete;

  // Leaves the cluster as it was.
  ~ResizePlanner() {
    for (auto& [index, workload] : before_) cluster_.workloads[index] = std::move(workload);
  }

  Result<ResizePlan> Run() {
    auto family = FindFamily();
    if (!family) return tl::unexpected(family.error());
    current_ = Current(*family);
    if (current_ != nullptr) FoldWaiting(*family);  // counts that are not named stay as folded
    const auto wanted = WantedCounts(*family->slices.back(), request_.counts);
    if (!wanted) return tl::unexpected(wanted.error());
    if (current_ != nullptr) Decide(*family, *wanted);
    if (current_ == nullptr) current_ = family->slices.back();
    plan_.workload = current_->key;
    if (plan_.counts.empty()) SetPlanCounts(*current_);
    if (plan_.usage.empty()) plan_.usage = QuotaUsageOf(*current_);
    if (error_) return tl::unexpected(*error_);
    if (auto check = engine_.budget().Check(); !check) return tl::unexpected(check.error());
    return std::move(plan_);
  }

 private:
  Result<Family> FindFamily() {
    const auto named = std::ranges::find(cluster_.workloads, request_.workload, &Workload::key);
    const std::string name = Excerpt(request_.workload.ToString());
    if (named == cluster_.workloads.end()) {
      return tl::unexpected(
          Error{ErrorClass::kNotFound, fmt::format("workload {} is not in the input", name)});
    }
    const auto at = static_cast<std::size_t>(named - cluster_.workloads.begin());
    const UnfinishedSlices found =
        UnfinishedOf(SlicesOf(at, cluster_.workloads), cluster_.workloads);
    if (found.chain.empty()) {
      const bool is_part = IsReplicaSlice(*named);
      return tl::unexpected(
          Error{ErrorClass::kNotFound,
                is_part ? fmt::format("workload {} is a slice of a workload that is not in the "
                                      "input, or has finished",
                                      name)
                        : fmt::format("workload {} has finished", name)});
    }
    Family family;
    family.slices = Borrow(found.chain);
    family.replicas = Borrow(found.replicas);
    return family;
  }

  // The workloads themselves; they are put back as they are when the planner goes.
  std::vector<Workload*> Borrow(const std::vector<std::size_t>& indices) {
    std::vector<Workload*> workloads;
    for (const std::size_t i : indices) {
      before_.emplace_back(i, cluster_.workloads[i]);
      workloads.push_back(&cluster_.workloads[i]);
    }
    return workloads;
  }

  void Refuse(std::string reason) {
    plan_.decision = ResizeDecision::kRefused;
    plan_.reason = std::move(reason);
  }

  // The slice that the wanted counts are compared with; null, with the plan refused, when the
  // slices contradict each other. The texts are Kueue's.
  Workload* Current(const Family& family) {
    const auto& slices = family.slices;
    if (slices.size() > 2) {
      Refuse(fmt::format("unexpected number of matching workload slices: {}", slices.size()));
      return nullptr;
    }
    if (slices.size() == 1) return slices.front();
    Workload& old = *slices.front();
    Workload& slice = *slices.back();
    if (HasReservation(slice) && HasReservation(old) && !Replaces(slice, old)) {
      Refuse("unexpected combination of old and new workload slices with reserved quota");
      return nullptr;
    }
    if (HasReservation(slice) || !HasReservation(old) || HasCondition(old, kEvicted)) {
      plan_.notes.push_back(fmt::format("workload {} is to be finished: {} has taken its place",
                                        old.key.ToString(), slice.key.ToString()));
      judge_.Forget(old);
      End(old, "OutOfSync");
    }
    return &slice;
  }

  void End(Workload& slice, std::string reason) {
    SetCondition(slice, {std::string(kFinished), "True", std::move(reason), ""});
    plan_.ended.push_back(slice);
  }

  void Decide(const Family& family, const Counts& wanted) {
    const Counts counts = PodSetCounts(*current_);
    const bool waits = !HasReservation(*current_);
    if (waits && !current_->refusal.empty()) return Refuse(current_->refusal);
    if (wanted == counts) return;
    if (waits) {
      SetCounts(wanted, *current_);
      plan_.decision = ResizeDecision::kInPlace;
      plan_.notes.push_back(fmt::format("workload {} holds no quota: its counts change as it waits",
                                        current_->key.ToString()));
      NoteNoHead();
      Finish();
      return;
    }
    if (auto reason = WhyNoResize()) return Refuse(std::move(*reason));
    const bool grows = AnyGrows(counts, wanted);
    if (grows) {
      if (auto begun = judge_.Begin(*current_); !begun) {
        error_ = begun.error();
        return;
      }
    }
    if (!grows) {
      Shrink(wanted);
      plan_.decision = ResizeDecision::kInPlace;
      Finish();
    } else if (request_.mode == SliceMode::kPerReplica) {
      GrowByReplicas(family, wanted);
    } else {
      Replace(wanted);
    }
  }

  // Slices per replica that were admitted and are not counted yet.
  void FoldWaiting(const Family& family) {
    const Workload before = *current_;
    FoldedSlices folded(*current_);
    for (Workload* slice : family.replicas) {
      if (!HasReservation(*slice)) continue;
      folded.Fold(*slice, *current_);
      End(*slice, "Folded");  // counted once
    }
    if (before == *current_) return;
    plan_.after = *current_;
    plan_.notes.push_back(fmt::format("slices that were admitted since are counted in workload {}",
                                      current_->key.ToString()));
  }

  std::optional<std::string> WhyNoResize() const {
    const std::string name = current_->key.ToString();
    if (!current_->active) {
      return fmt::format("workload {} is to give up its quota: its spec.active is false", name);
    }
    if (HasCondition(*current_, kEvicted)) {
      return fmt::format(
          "workload {} is evicted, and waits for quota again before its size changes", name);
    }
    if (!current_->unhealthy_nodes.empty()) {  // W5.6
      return fmt::format(
          "workload {} is on unhealthy nodes ({}): it keeps its size until they recover or are "
          "replaced",
          name, fmt::join(current_->unhealthy_nodes, ", "));
    }
    if (!IsElasticJob(*current_) && request_.mode == SliceMode::kReplacement) {
      return fmt::format("workload {} is not elastic: it lacks the annotation {}: \"true\"", name,
                         kElasticJobAnnotation);
    }
    if (!engine_.gates().elastic_jobs_via_workload_slices) {
      return "the feature gate ElasticJobsViaWorkloadSlices is off";
    }
    return std::nullopt;
  }

  // Says why a workload without quota does not even wait.
  void NoteNoHead() {
    if (auto reason = judge_.WhyNoHead(*current_)) {
      plan_.notes.push_back(
          fmt::format("workload {} is not in its queue: {}", current_->key.ToString(), *reason));
    }
  }

  // Takes the pods out of the current slice that are not wanted any more.
  void Shrink(const Counts& wanted) {
    plan_.leaving = ShrinkTo(wanted, request_.profile, lookup_, cluster_, paths_, *current_);
  }

  void Finish() {
    plan_.after = *current_;
    SetPlanCounts(*current_);
    plan_.usage = QuotaUsageOf(*current_);
  }

  void SetPlanCounts(const Workload& workload) {
    plan_.counts.clear();
    for (const PodSet& pod_set : workload.pod_sets) {
      plan_.counts.emplace_back(pod_set.name, pod_set.count);
    }
  }

  void Replace(const Counts& wanted) {
    const Workload before = *current_;
    Workload slice = SliceAfter(before);
    std::int64_t number = 2;
    slice.key.name = names_.Take(std::string(SliceName(before)) + "-slice-", number);
    SetCounts(wanted, slice);
    if (request_.profile == ResizeProfile::kEspalier) {
      // The pods that stay hold their places once, and those that leave none (R16.8 in Kueue).
      Shrink(wanted);
      judge_.CountHeldOnce();
    } else {
      Shrink(wanted);  // to say who leaves; the engine truncates as R16.5
      *current_ = before;
    }
    Nomination nomination = judge_.JudgeNear(slice);
    if (engine_.budget().stopped()) return;
    if (IsUnsupported(nomination)) return RefuseGrowth(before, std::move(nomination.message));
    plan_.decision = ResizeDecision::kNewSlice;
    PlannedSlice planned{std::move(slice), before.key.ToString(), false, {}};
    planned.admitted = nomination.mode == AssignmentMode::kFit;
    *current_ = before;
    if (planned.admitted) {
      Reserve(nomination, planned.workload);
      SetCondition(*current_, {std::string(kFinished), "True", "WorkloadSliceReplaced", ""});
      plan_.after = *current_;
      plan_.usage = QuotaUsageOf(planned.workload);
    } else {
      planned.reason = nomination.message;
      plan_.reason = nomination.message;
      plan_.leaving.clear();  // the old slice runs on unharmed
      NoteRoomCountedTwice(planned.workload);
    }
    SetPlanCounts(planned.workload);
    plan_.slices.push_back(std::move(planned));
  }

  // A slice that waits for room in profile `kueue` may do so for R16.8 alone.
  void NoteRoomCountedTwice(const Workload& slice) {
    if (request_.profile != ResizeProfile::kKueue || !judge_.FitsWithHeldOnce(slice)) return;
    plan_.notes.push_back(
        fmt::format("slice {} waits as Kueue counts the pods that run twice while more are placed "
                    "(R16.8); counted once, as profile espalier does, it fits",
                    slice.key.ToString()));
  }

  void RefuseGrowth(const Workload& before, std::string reason) {
    *current_ = before;
    plan_.leaving.clear();
    Refuse(std::move(reason));
  }

  void Reserve(const Nomination& nomination, Workload& slice) {
    const ClusterQueue& queue = judge_.Queue();
    slice.admission = MakeAdmission(nomination, current_->admission->cluster_queue);
    SetCondition(slice, {std::string(kQuotaReserved), "True", "QuotaReserved", ""});
    if (AllChecksReady(slice, queue) && !HasDelayedPodSet(slice)) {
      SetCondition(slice, {std::string(kAdmitted), "True", "Admitted", ""});
    } else {
      plan_.notes.push_back(
          fmt::format("admission checks of workload {} are still to come", slice.key.ToString()));
    }
  }

  void GrowByReplicas(const Family& family, const Counts& wanted) {
    const Workload before = *current_;
    Shrink(wanted);
    std::int64_t grown = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      grown += wanted[i] - current_->pod_sets[i].count;
    }
    if (grown > kMostNewReplicas) {
      error_ = Error{ErrorClass::kBadInput,
                     fmt::format("{} slices per replica would be made; at most {} are at once",
                                 grown, kMostNewReplicas)};
      return;
    }
    plan_.decision = ResizeDecision::kSlicesPerReplica;
    judge_.CountHeldOnce();
    bool waits = false;
    FoldedSlices folded(*current_);
    std::int64_t number = NextReplicaNumber(*current_);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      std::vector<const Workload*> waiting = Waiting(family, current_->pod_sets[i].name);
      const std::int64_t slice_bytes = ReplicaSliceBytes(*current_, i);
      std::string reason;
      for (std::int64_t more = wanted[i] - current_->pod_sets[i].count; more > 0; --more) {
        engine_.budget().Charge(slice_bytes);
        if (!engine_.budget().MayContinue()) return;
        const Workload* known = waiting.empty() ? nullptr : waiting.front();
        if (known != nullptr) waiting.erase(waiting.begin());
        PlannedSlice planned{known != nullptr ? *known : ReplicaSlice(i, number), "", false,
                             reason};
        // A replica does not get what an equal one before it did not get.
        if (reason.empty()) reason = AdmitReplica(i, folded, planned);
        if (plan_.decision == ResizeDecision::kRefused) {
          plan_.slices.clear();
          return RefuseGrowth(before, std::move(reason));
        }
        waits = waits || !planned.admitted;
        plan_.slices.push_back(std::move(planned));
      }
      for (const Workload* surplus : waiting) {
        plan_.notes.push_back(fmt::format("slice {} is no longer needed", surplus->key.ToString()));
      }
      if (!reason.empty() && plan_.reason.empty()) plan_.reason = reason;
    }
    SetCondition(*current_, ResizeCondition(waits, plan_.reason));
    Finish();
  }

  static std::vector<const Workload*> Waiting(const Family& family, const std::string& pod_set) {
    std::vector<const Workload*> waiting;
    for (const Workload* slice : family.replicas) {
      if (LacksQuota(*slice) && slice->pod_sets.size() == 1 &&
          slice->pod_sets.front().name == pod_set) {
        waiting.push_back(slice);
      }
    }
    return waiting;
  }

  Workload ReplicaSlice(std::size_t pod_set, std::int64_t& number) {
    Workload slice = ReplicaSliceOf(*current_, pod_set);
    slice.key.name = names_.Take(ReplicaPrefix(*current_), number);
    return slice;
  }

  // Admits and folds one replica; returns why not. Refuses all where none can ever be admitted.
  std::string AdmitReplica(std::size_t pod_set, FoldedSlices& folded, PlannedSlice& planned) {
    Workload grown = SliceAfter(*current_);
    ++grown.pod_sets[pod_set].count;
    const Nomination nomination = judge_.JudgeNear(grown);
    if (IsUnsupported(nomination)) plan_.decision = ResizeDecision::kRefused;
    if (nomination.mode != AssignmentMode::kFit) {
      planned.reason = nomination.message;
      return nomination.message;
    }
    const QuotaUsage held = QuotaUsageOf(*current_);
    const std::string& name = current_->pod_sets[pod_set].name;
    Admission admission = MakeAdmission(nomination, current_->admission->cluster_queue);
    std::erase_if(admission.pod_set_assignments,
                  [&](const PodSetAssignment& assignment) { return assignment.name != name; });
    for (PodSetAssignment& assignment : admission.pod_set_assignments) {
      KeepAddedPod(nomination, current_->pod_sets[pod_set], lookup_.configuration(), assignment);
    }
    planned.workload.admission = std::move(admission);
    SetCondition(planned.workload, {std::string(kQuotaReserved), "True", "QuotaReserved", ""});
    SetCondition(planned.workload, {std::string(kAdmitted), "True", "Admitted", ""});
    planned.admitted = true;
    folded.Fold(planned.workload, *current_);
    judge_.FollowQuota(held);
    return "";
  }

  Cluster& cluster_;
  const Engine& engine_;
  const ResizeRequest& request_;
  ClusterLookup lookup_;
  LeafPaths paths_;
  FreeNames names_;
  std::vector<std::pair<std::size_t, Workload>> before_;  // the workloads that are changed here
  Workload* current_ = nullptr;  // of cluster_: the slice that changes, is replaced or grows
  std::optional<Error> error_;
  ResizePlan plan_;
  SliceJudge judge_;
};

}  // namespace

Condition ResizeCondition(bool waits, std::string message) {
  return {std::string(kResizeRequested), waits ? "True" : "False",
          waits ? "SlicesPending" : "SlicesFolded", std::move(message)};
}

std::string_view ToString(ResizeDecision decision) {
  switch (decision) {
    case ResizeDecision::kNone:
      return "none";
    case ResizeDecision::kInPlace:
      return "in-place";
    case ResizeDecision::kNewSlice:
      return "new-slice";
    case ResizeDecision::kSlicesPerReplica:
      return "slices-per-replica";
    case ResizeDecision::kRefused:
      return "refused";
  }
  return "";
}

Result<std::vector<std::int64_t>> WantedCounts(
    const Workload& workload, std::span<const std::pair<std::string, std::int64_t>> named) {
  Counts counts = PodSetCounts(workload);
  std::set<std::string_view> seen;
  for (const auto& [name, count] : named) {
    if (!seen.insert(name).second) {
      return BadInput(fmt::format("pod set \"{}\" is given two counts", Excerpt(name)));
    }
    const auto pod_set = std::ranges::find(workload.pod_sets, name, &PodSet::name);
    if (pod_set == workload.pod_sets.end()) {
      std::vector<std::string_view> names;
      for (const PodSet& known : workload.pod_sets) names.push_back(known.name);
      return BadInput(fmt::format("workload {} has no pod set \"{}\"; it has {}",
                                  Excerpt(workload.key.ToString()), Excerpt(name),
                                  fmt::join(names, ", ")));
    }
    if (count < 0 || count > std::numeric_limits<std::int32_t>::max()) {
      return BadInput(fmt::format("the count of pod set \"{}\" is {}; it lies in 0 to {}",
                                  Excerpt(name), count, std::numeric_limits<std::int32_t>::max()));
    }
    counts[static_cast<std::size_t>(pod_set - workload.pod_sets.begin())] = count;
  }
  return counts;
}

Result<ResizePlan> PlanResize(Cluster& cluster, const Engine& engine,
                              const ResizeRequest& request) {
  return ResizePlanner(cluster, std::nullopt, engine, request).Run();
}

Result<ResizePlan> PlanResize(Cluster& cluster, ClusterState state, const Engine& engine,
                              const ResizeRequest& request) {
  return ResizePlanner(cluster, std::move(state), engine, request).Run();
}

FeatureGates ResizeGates(FeatureGates gates) {
  gates.elastic_jobs_via_workload_slices_with_tas = gates.elastic_jobs_via_workload_slices;
  return gates;
}

}  // namespace espalier
