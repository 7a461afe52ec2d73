#include "host/kueue/cycle/scheduling_cycle.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "host/engine/booked_usage.hpp"
#include "host/kueue/cycle/cycle_state.hpp"
#include "host/kueue/cycle/cycle_victims.hpp"
#include "host/kueue/cycle/nomination.hpp"
#include "host/kueue/cycle/queue_order.hpp"
#include "host/kueue/cycle/workload_queue.hpp"
#include "host/kueue/elastic/job_slices.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/delayed_topology.hpp"
#include "host/kueue/objects/lost_pods.hpp"
#include "host/kueue/objects/missing_queue.hpp"
#include "host/kueue/objects/workload_requests.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/validation/usage_check.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

constexpr std::string_view kNoLongerFits =
    "Workload no longer fits after processing another workload";

// Most evaluations in a row of one workload with flavors left to try. Lists of different lengths
// go round in the product of their lengths.
constexpr std::int32_t kMostTries = 1000;

// One workload under evaluation in a cycle.
struct Entry {
  std::size_t workload = 0;  // index
  WorkloadQueue* queue = nullptr;
  bool second_pass = false;  // R21.9
  std::optional<PassedOver> passed_over = {};
  Nomination nomination = {};
};

class Simulation {
 public:
  Simulation(SchedulingCyclesResult& result, const Engine& engine, ClusterState state,
             const SchedulingCyclesOptions& options)
      : result_(result),
        cluster_(result.cluster),
        engine_(engine),
        budget_(engine.budget()),
        lookup_(cluster_),
        admissibility_(cluster_, lookup_, options.admissibility),
        missing_(cluster_, lookup_),
        options_(options),
        state_(std::move(state), SharedFlavors(cluster_, lookup_, engine.gates())) {
    MakeQueues();
    FillQueues();
  }

  // False when nothing was left to evaluate, or the budget was stopped.
  bool RunCycle() {
    nominator_ =
        std::make_unique<Nominator>(engine_, state_.state(), lookup_,
                                    RequestRules{.joint_replacement = options_.joint_replacement});
    std::vector<Entry> entries = TakeEntries();
    if (entries.empty()) return false;
    ++result_.cycles;
    changed_ = false;
    for (Entry& entry : entries) {
      if (!budget_.MayContinue()) return false;
      const Workload& workload = cluster_.workloads[entry.workload];
      entry.passed_over = admissibility_.WhyPassedOver(workload, entry.queue->cluster_queue().name);
      if (!entry.passed_over) entry.nomination = Nominate(entry);
      if (options_.progress) Report(entry.workload, entries.size());
    }
    std::ranges::stable_sort(entries, [&](const Entry& a, const Entry& b) {  // R21.6
      if (a.second_pass != b.second_pass) return a.second_pass;
      return ComesBefore(cluster_.workloads[a.workload], cluster_.workloads[b.workload]);
    });
    for (Entry& entry : entries) {
      if (!budget_.MayContinue()) return false;
      Process(entry);
    }
    state_.EndCycle();
    FlushWoken();
    return true;
  }

 private:
  void Report(std::size_t workload, std::size_t entries) {
    if (!looked_at_.insert(workload).second) return;
    options_.progress(looked_at_.size(), options_.until_stable ? waiting_workloads_ : entries);
  }

  void MakeQueues() {
    for (const ClusterQueue& queue : cluster_.cluster_queues) {
      if (budget_.stopped()) return;
      const auto [made, fresh] = queues_.try_emplace(queue.name, queue, cluster_.workloads);
      if (fresh && made->second.strict()) strict_queues_.push_back(&made->second);
      NoteLimits(queue);
    }
    for (const Workload& workload : cluster_.workloads) {
      if (budget_.stopped()) return;
      if (!workload.admission) continue;
      const auto queue = queues_.find(workload.admission->cluster_queue);
      if (queue != queues_.end()) queue->second.quota().Add(QuotaUsageOf(workload));
    }
  }

  void NoteLimits(const ClusterQueue& queue) {
    const auto asks = [](const std::string& policy) {
      return !policy.empty() && policy != "Never";
    };
    if (!queue.cohort.empty()) {
      Note(
          fmt::format("ClusterQueue {} is in cohort {}: borrowing and lending are not simulated, "
                      "it has its nominal quota alone",
                      queue.name, queue.cohort));
    }
    if (asks(queue.within_cluster_queue) || asks(queue.reclaim_within_cohort)) {
      Note(
          fmt::format("ClusterQueue {} allows preemption, which is not simulated: workloads that "
                      "need it stay pending, and whom they would need to go is said",
                      queue.name));
    }
    if (!queue.admission_checks.empty()) {
      Note(
          fmt::format("ClusterQueue {} has admission checks, which do not change here: workloads "
                      "stop at their quota reservation",
                      queue.name));
    }
    if (options_.admissibility.release_stopped && asks(queue.stop_policy) &&
        queue.stop_policy != "None") {
      Note(fmt::format("ClusterQueue {} has stopPolicy {}: simulated as if it were released",
                       queue.name, queue.stop_policy));
    }
    if (!options_.admissibility.release_stopped && queue.stop_policy == "HoldAndDrain") {
      Note(
          fmt::format("ClusterQueue {} is drained: the eviction of what it has admitted is not "
                      "simulated",
                      queue.name));
    }
    if (const auto why = admissibility_.WhyInactive(queue)) {
      Note(fmt::format("ClusterQueue {} is inactive: {}", queue.name, *why));
    }
    NoteUnknowns(queue);
  }

  void NoteUnknowns(const ClusterQueue& queue) {
    for (const std::string& name : queue.admission_checks) {
      const AdmissionCheck* check = lookup_.Check(name);
      if (check == nullptr || check->active) continue;
      Note(
          fmt::format("AdmissionCheck {} of ClusterQueue {} does not say whether it is active: "
                      "taken as active",
                      name, queue.name));
    }
    const auto& selector = queue.namespace_selector;
    if (cluster_.namespaces.empty() && selector && *selector != LabelSelector{}) {
      Note(
          fmt::format("ClusterQueue {} selects namespaces by their labels, and no Namespace is in "
                      "the input: taken as if it selected all",
                      queue.name));
    }
    for (const std::string& field : queue.unknown_fields) {
      Note(fmt::format("ClusterQueue {} sets {}, which is not simulated", queue.name, field));
    }
  }

  void FillQueues() {
    for (const std::size_t index : PendingInQueueOrder(cluster_)) {
      if (budget_.stopped()) return;
      if (Enqueue(index)) ++waiting_workloads_;
    }
    for (std::size_t index = 0; index < cluster_.workloads.size(); ++index) {
      if (budget_.stopped()) return;
      const Workload& workload = cluster_.workloads[index];
      if (!workload.active && LacksQuota(workload)) {
        Enqueue(index);  // which says why it is not
      }
      if (WantsSecondPass(workload)) second_pass_.insert(index);
      if (workload.admission && NeedsReplacement(workload) &&
          !queues_.contains(workload.admission->cluster_queue)) {
        Note(
            fmt::format("workload {} is left on its unhealthy nodes: its ClusterQueue {} is not "
                        "in the input",
                        workload.key.ToString(), workload.admission->cluster_queue));
      }
    }
    waiting_workloads_ += second_pass_.size();
  }

  // Puts a pending workload into its queue. Returns false, and says why, where it waits outside.
  bool Enqueue(std::size_t index) {
    const Workload& workload = cluster_.workloads[index];
    const LocalQueue* local_queue = lookup_.LocalQueueOf(workload);
    if (lookup_.QueueOf(workload) == nullptr) {
      Note(fmt::format("workload {} is {}: {}", workload.key.ToString(),
                       local_queue == nullptr ? "left out" : "not admitted",
                       missing_.WhyMissing(workload)));
      if (local_queue == nullptr) return false;
    }
    if (const auto why = admissibility_.WhyNoHead(workload)) {
      Note(fmt::format("workload {} of ClusterQueue {} waits outside of its queue: {}",
                       workload.key.ToString(), local_queue->cluster_queue, *why));
      return false;
    }
    Push(QueueNamed(local_queue->cluster_queue), index);
    return true;
  }

  // One that is not in the cluster has a queue all the same, for its workloads to be passed over.
  WorkloadQueue& QueueNamed(const std::string& name) {
    const auto found = queues_.find(name);
    if (found != queues_.end()) return found->second;
    ClusterQueue& missing = missing_queues_.emplace_back();
    missing.name = name;
    return queues_.try_emplace(name, missing, cluster_.workloads).first->second;
  }

  bool WantsSecondPass(const Workload& workload) const {  // R21.9
    if (!HasReservation(workload) || HasCondition(workload, kEvicted)) return false;
    const auto queue = queues_.find(workload.admission->cluster_queue);
    if (queue == queues_.end()) return false;
    if (HasCondition(workload, kAdmitted)) return NeedsReplacement(workload);
    const ClusterQueue& cluster_queue = queue->second.cluster_queue();
    return HasDelayedPodSet(workload) && AllChecksReady(workload, cluster_queue) &&
           !UsesMultiKueue(cluster_queue, lookup_);
  }

  std::vector<Entry> TakeEntries() {
    std::vector<Entry> entries;
    for (const std::size_t index : second_pass_) {
      const Workload& workload = cluster_.workloads[index];
      if (!WantsSecondPass(workload)) continue;  // not since it was evaluated
      entries.push_back({index, &queues_.at(workload.admission->cluster_queue), true});
    }
    second_pass_.clear();
    for (auto it = waiting_.begin(); it != waiting_.end();) {
      WorkloadQueue& queue = *it->second;
      if (const auto head = queue.Pop()) {
        entries.push_back({*head, &queue, false});
        ++it;
      } else {
        it = waiting_.erase(it);
      }
    }
    return entries;
  }

  void Push(WorkloadQueue& queue, std::size_t workload) {
    queue.Push(workload);
    waiting_.emplace(queue.cluster_queue().name, &queue);
  }

  void Flush(WorkloadQueue& queue) {
    queue.Flush();
    waiting_.emplace(queue.cluster_queue().name, &queue);
  }

  void FlushWoken() {
    if (!woken_.empty()) second_pass_.merge(failed_second_pass_);
    for (WorkloadQueue* queue : woken_) Flush(*queue);
    woken_.clear();
    if (!strict_woken_) return;
    for (WorkloadQueue* queue : strict_queues_) Flush(*queue);
    strict_woken_ = false;
  }

  Nomination Nominate(const Entry& entry) {
    const Workload& workload = cluster_.workloads[entry.workload];
    const ClusterQueue& queue = entry.queue->cluster_queue();
    if (entry.second_pass) {
      return nominator_->NominateOn(workload, queue, RecordedFlavors(workload));
    }
    return nominator_->Nominate(
        workload, {lookup_, queue, &entry.queue->quota(), Slice(entry),
                   entry.queue->NextFlavors(entry.workload), budget_, ParentOf(workload, lookup_)});
  }

  // The slice that ends when the entry is admitted, or null.
  const Workload* Slice(const Entry& entry) const {
    return ReplacedSlice(cluster_.workloads[entry.workload], lookup_, &entry.queue->cluster_queue(),
                         engine_.gates());
  }

  void Process(Entry& entry) {
    // It may have ended as another entry's slice.
    if (HasCondition(cluster_.workloads[entry.workload], kFinished)) return;
    if (entry.passed_over) return PassOver(entry);
    const Nomination& nomination = entry.nomination;
    if (nomination.mode == AssignmentMode::kFit) {
      if (!TryAdmit(entry)) Skip(entry);
      return;
    }
    if (NeedsReplacement(cluster_.workloads[entry.workload]) &&
        engine_.gates().failed_node_replacement_fail_fast) {
      Evict(entry);
      return;
    }
    if (nomination.mode == AssignmentMode::kPreempt && !entry.second_pass) {
      Reserve(entry);
    }
    Decide(entry, DecisionStatus::kNotAdmitted, nomination.message);
    if (entry.second_pass) {
      failed_second_pass_.insert(entry.workload);
    } else if (nomination.flavors.next_flavors.empty()) {
      Park(entry);
    } else if (++tries_[entry.workload] < kMostTries) {
      entry.queue->SetNextFlavors(entry.workload, nomination.flavors.next_flavors);
      Push(*entry.queue, entry.workload);
    } else {
      Note(fmt::format(
          "workload {} was tried on {} combinations of flavors; the others are left out",
          cluster_.workloads[entry.workload].key.ToString(), kMostTries));
      Park(entry);
    }
  }

  // Leaves the workload in its queue until that gets room back.
  void Park(const Entry& entry) {
    entry.queue->SetNextFlavors(entry.workload, {});
    tries_.erase(entry.workload);
    entry.queue->Park(entry.workload);
  }

  // Books, for the rest of the cycle, what a workload waits for (R21.5, R29.4); says once for each
  // workload whom it waits for.
  void Reserve(const Entry& entry) {
    const Nomination& nomination = entry.nomination;
    const auto victims =
        FindVictims({cluster_, lookup_, cluster_.workloads[entry.workload], Slice(entry),
                     nomination, entry.queue->cluster_queue(), entry.queue->quota()},
                    state_.state(), engine_);
    if (victims && noted_victims_.insert(entry.workload).second) Note(victims->note);
    const bool found = victims && victims->placement;
    state_.Add(BookedUsage(nomination.request, found ? *victims->placement : nomination.answer));
    changed_ = true;
  }

  void PassOver(const Entry& entry) {  // R21.14
    Decide(entry, DecisionStatus::kNotAdmitted, entry.passed_over->reason);
    if (entry.second_pass) {
      failed_second_pass_.insert(entry.workload);
    } else if (entry.passed_over->is_set_aside) {
      entry.queue->SetAside(entry.workload);
    } else {
      entry.queue->Park(entry.workload);
    }
  }

  // R21.7.
  bool TryAdmit(Entry& entry) {
    if (Book(entry)) return true;
    if (!engine_.gates().recompute_assignment_within_scheduling_cycle) return false;
    FlavorAssignment pinned = std::move(entry.nomination.flavors);
    entry.nomination = nominator_->NominateOn(cluster_.workloads[entry.workload],
                                              entry.queue->cluster_queue(), std::move(pinned));
    return entry.nomination.mode == AssignmentMode::kFit && Book(entry);
  }

  // Admits when the nominated placement still fits.
  bool Book(Entry& entry) {
    const Nomination& nomination = entry.nomination;
    if (!FitsNow(state_.state(), nomination.request, nomination.answer)) return false;
    state_.Add(BookedUsage(nomination.request, nomination.answer));
    changed_ = true;
    if (const Workload* slice = Slice(entry)) FinishSlice(*slice, *entry.queue);
    Admit(entry);
    return true;
  }

  void Admit(const Entry& entry) {
    Workload& workload = cluster_.workloads[entry.workload];
    std::vector<FlavorLeafUsage> before = TasUsage(workload, lookup_);
    const bool replaced = NeedsReplacement(workload);
    std::string kept;
    if (entry.second_pass) {
      const std::vector<PodSetAssignment> assignments = workload.admission->pod_set_assignments;
      UpdateAssignments(entry.nomination.answer, workload);
      if (replaced && workload.admission->pod_set_assignments == assignments) {
        kept = WhyKept(workload);
      }
      workload.unhealthy_nodes.clear();
    } else {
      workload.admission = MakeAdmission(entry.nomination, entry.queue->cluster_queue().name);
      SetCondition(workload, {std::string(kQuotaReserved), "True", "QuotaReserved", ""});
      EndEviction(workload);
      entry.queue->quota().Add(QuotaUsageOf(workload));
      entry.queue->SetNextFlavors(entry.workload, {});
      tries_.erase(entry.workload);
    }
    if (AllChecksReady(workload, entry.queue->cluster_queue()) && !HasDelayedPodSet(workload)) {
      SetCondition(workload, {std::string(kAdmitted), "True", "Admitted", ""});
    }
    state_.Replace(std::move(before), TasUsage(workload, lookup_));
    const DecisionStatus placed = replaced ? DecisionStatus::kReplaced : DecisionStatus::kAssumed;
    Decide(entry, kept.empty() ? placed : DecisionStatus::kKept, kept);
    result_.decisions.back().assignments = workload.admission->pod_set_assignments;
    NoteLostPods(workload);
  }

  // Why a workload stays on its unhealthy nodes.
  std::string WhyKept(const Workload& workload) const {
    const std::string nodes = fmt::format("{}", fmt::join(workload.unhealthy_nodes, ", "));
    if (OwnedBySinglePod(workload) && engine_.gates().skip_reassignment_for_pod_owned_workloads) {
      return fmt::format(
          "it belongs to a pod, which stays on its node: no other place is looked for, although {} "
          "failed",
          nodes);
    }
    return fmt::format("the best place for its pods is the one that they have, although {} failed",
                       nodes);
  }

  void NoteLostPods(const Workload& workload) {
    const auto pod_sets = ByName(workload.pod_sets);
    for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
      const std::int32_t count = assignment.count.value_or(0);
      const std::int64_t lost = LostPods(count, assignment.topology_assignment);
      if (lost == 0) continue;
      const PodSet* pod_set = FindOrNull(pod_sets, assignment.name);
      Note(LostPodsNote(workload.key, assignment.name, count, lost,
                        pod_set == nullptr ? std::nullopt : pod_set->topology_request));
    }
  }

  // The quota that is reserved ends what was before.
  static void EndEviction(Workload& workload) {
    for (Condition& condition : workload.conditions) {
      if (condition.type != kEvicted && condition.type != kPreempted) continue;
      if (condition.status != "True") continue;
      condition = {condition.type, "False", "QuotaReserved", "Previously: " + condition.message};
    }
  }

  static void UpdateAssignments(const WorkloadAnswer& answer, Workload& workload) {
    const auto placed = ByName(answer.pod_sets);
    for (PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
      const PodSetAnswer* answered = FindOrNull(placed, assignment.name);
      if (answered == nullptr || !answered->assignment) continue;
      assignment.topology_assignment = answered->assignment;
      if (assignment.delayed_topology_request) assignment.delayed_topology_request = kDelayReady;
    }
  }

  // The workload slice that another one has taken over from.
  void FinishSlice(const Workload& slice, WorkloadQueue& queue) {
    queue.quota().Remove(QuotaUsageOf(slice));
    state_.Replace(TasUsage(slice, lookup_), {});
    Workload& finished =
        cluster_.workloads[static_cast<std::size_t>(&slice - cluster_.workloads.data())];
    SetCondition(finished, {std::string(kFinished), "True", "WorkloadSliceReplaced", ""});
    Wake(queue);
  }

  // A queue got room back. A StrictFIFO queue looks at its head in every cycle; others wait for
  // room of their own.
  void Wake(WorkloadQueue& queue) {
    woken_.insert(&queue);
    strict_woken_ = true;
  }

  // Lost a race in this cycle: tried again at once, unless nothing but itself is to blame.
  void Skip(const Entry& entry) {
    Decide(entry, DecisionStatus::kNotAdmitted, std::string(kNoLongerFits));
    if (entry.second_pass) {
      (changed_ ? second_pass_ : failed_second_pass_).insert(entry.workload);
    } else if (changed_) {
      Push(*entry.queue, entry.workload);
    } else {
      Park(entry);
    }
  }

  void Evict(const Entry& entry) {
    Workload& workload = cluster_.workloads[entry.workload];
    std::string reason =
        fmt::format("Workload was evicted as there was no replacement for unhealthy node(s): {}",
                    fmt::join(workload.unhealthy_nodes, ","));
    Decide(entry, DecisionStatus::kEvicted, reason);
    state_.Replace(TasUsage(workload, lookup_), {});
    entry.queue->quota().Remove(QuotaUsageOf(workload));
    workload.admission.reset();
    workload.unhealthy_nodes.clear();
    SetCondition(workload, {std::string(kEvicted), "True", "NodeFailures", std::move(reason)});
    SetCondition(workload, {std::string(kQuotaReserved), "False", "Pending", ""});
    SetCondition(workload, {std::string(kAdmitted), "False", "NoReservation", ""});
    for (AdmissionCheckState& check : workload.admission_checks) check.state = "Pending";
    if (IsBeingReplaced(workload)) {
      SetCondition(workload, {std::string(kFinished), "True", "OutOfSync", ""});
    } else {
      Enqueue(entry.workload);
    }
    Wake(*entry.queue);
  }

  // Returns whether a slice that has not finished asks to take over from the workload.
  bool IsBeingReplaced(const Workload& workload) const {
    return std::ranges::any_of(cluster_.workloads, [&](const Workload& other) {
      return Replaces(other, workload) && !HasCondition(other, kFinished);
    });
  }

  void Decide(const Entry& entry, DecisionStatus status, std::string reason) {
    budget_.Charge(static_cast<std::int64_t>(sizeof(Decision) + reason.size()));
    Decision& decision = result_.decisions.emplace_back();
    decision.evaluation = static_cast<std::int64_t>(result_.decisions.size());
    decision.cycle = result_.cycles;
    decision.cluster_queue = entry.queue->cluster_queue().name;
    decision.workload = cluster_.workloads[entry.workload].key;
    decision.status = status;
    decision.reason = std::move(reason);
    if (status == DecisionStatus::kNotAdmitted) {
      decision.pending_reason = entry.nomination.pending_reason;
    }
  }

  void Note(std::string note) { result_.notes.push_back(std::move(note)); }

  SchedulingCyclesResult& result_;
  Cluster& cluster_;
  const Engine& engine_;
  WorkBudget& budget_;
  ClusterLookup lookup_;
  Admissibility admissibility_;
  MissingQueues missing_;
  const SchedulingCyclesOptions& options_;
  std::set<std::size_t> noted_victims_;
  CycleState state_;
  std::deque<ClusterQueue> missing_queues_;
  std::map<std::string, WorkloadQueue> queues_;         // by name of the ClusterQueue
  std::map<std::string_view, WorkloadQueue*> waiting_;  // those in which something may wait
  std::vector<WorkloadQueue*> strict_queues_;
  std::set<std::size_t> second_pass_;          // workloads to evaluate in the next cycle
  std::set<std::size_t> failed_second_pass_;   // and those that wait for room
  std::map<std::size_t, std::int32_t> tries_;  // in a row, of workloads with flavors left to try
  std::unique_ptr<Nominator> nominator_;       // of the current cycle
  std::set<WorkloadQueue*> woken_;  // got room in the current cycle, also for those evaluated in it
  bool strict_woken_ = false;       // so did all StrictFIFO queues
  bool changed_ = false;            // something was booked in the current cycle
  std::size_t waiting_workloads_ = 0;  // at the beginning
  std::set<std::size_t> looked_at_;    // those that progress was reported of
};

}  // namespace

std::string_view ToString(DecisionStatus status) {
  switch (status) {
    case DecisionStatus::kAssumed:
      return "assumed";
    case DecisionStatus::kNotAdmitted:
      return "not-admitted";
    case DecisionStatus::kReplaced:
      return "replaced";
    case DecisionStatus::kEvicted:
      return "evicted";
    case DecisionStatus::kKept:
      return "kept";
  }
  return "";
}

Result<SchedulingCyclesResult> RunSchedulingCycles(Cluster cluster, const Engine& engine,
                                                   const SchedulingCyclesOptions& options) {
  auto state = BuildState(cluster, engine.gates(), engine.budget());
  if (!state) return tl::unexpected(state.error());
  auto result = RunSchedulingCycles(std::move(cluster), std::move(*state), engine, options);
  if (auto check = engine.budget().Check(); !check) return tl::unexpected(check.error());
  return result;
}

SchedulingCyclesResult RunSchedulingCycles(Cluster cluster, ClusterState state,
                                           const Engine& engine,
                                           const SchedulingCyclesOptions& options) {
  SchedulingCyclesResult result;
  result.cluster = std::move(cluster);
  Simulation simulation(result, engine, std::move(state), options);
  while (simulation.RunCycle() && options.until_stable) {
  }
  return result;
}

}  // namespace espalier
