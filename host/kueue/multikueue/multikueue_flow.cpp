#include "host/kueue/multikueue/multikueue_flow.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/elastic/folded_slices.hpp"
#include "host/kueue/elastic/job_slices.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/multikueue/flow_slices.hpp"
#include "host/kueue/multikueue/flow_writes.hpp"
#include "host/kueue/multikueue/manager_capacity.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/names_text.hpp"

namespace espalier {
namespace {

class Flow {
 public:
  Flow(MultiKueueState& state, FlowSlices slices, const Engine& engine, ManagerCapacity& capacity)
      : state_(state), slices_(std::move(slices)), engine_(engine), capacity_(capacity) {}

  Result<std::optional<FlowStep>> Next() {
    CheckSlices();
    if (error_) return tl::unexpected(*error_);
    if (waiting_) return Waiting();
    for (const auto decide :
         {&Flow::FinishOldSlice, &Flow::SyncReplicas, &Flow::FoldReplicas, &Flow::AnswerRequest,
          &Flow::AdmitSlice, &Flow::AdmitReplicas, &Flow::SyncWorkload, &Flow::MoveRequest,
          &Flow::ReportRequest, &Flow::StartOrEndPods}) {
      std::optional<FlowStep> step = (this->*decide)();
      if (error_) return tl::unexpected(*error_);
      if (!step) continue;
      Finish(*step);
      return step;
    }
    NoteQuota();
    return Waiting();
  }

 private:
  const std::string& worker() const { return state_.worker.name; }
  const ScaledJob& job() const { return state_.worker.job; }

  // Slices that contradict each other are for somebody else to end, as when one is resized.
  void CheckSlices() {
    if (slices_.chain.size() < 2) return;
    const bool contradict = HasReservation(*slices_.old) && HasReservation(*slices_.newest) &&
                            !Replaces(*slices_.newest, *slices_.old);
    if (slices_.chain.size() == 2 && !contradict) return;
    auto plan = Plan(*slices_.newest, CountsOf(*slices_.newest));
    if (plan) {
      Wait(kManager, SlicesText(), fmt::format("refused: {}", plan->reason));
    } else {
      error_ = plan.error();
    }
  }

  std::string SlicesText() const {
    std::vector<std::string> names;
    for (const Workload* slice : slices_.chain) names.push_back(slice->key.ToString());
    return fmt::format("slices {} have not ended", fmt::join(names, ", "));
  }

  Result<ResizePlan> Plan(const Workload& workload, const CountsByPodSet& counts) {
    const SliceMode mode = slices_.old == nullptr ? state_.slices : SliceMode::kReplacement;
    ResizeRequest request{workload.key, {}, mode, ResizeProfile::kKueue};
    request.counts.assign(counts.begin(), counts.end());
    const CountsByPodSet has = CountsOf(workload);
    const bool grows = std::ranges::any_of(counts, [&](const auto& entry) {
      const auto count = has.find(entry.first);
      return count != has.end() && entry.second > count->second;
    });
    if (!grows) return PlanResize(state_.manager, engine_, request);  // no place is looked for
    auto capacity = capacity_.Copy(state_.manager);
    if (!capacity) return tl::unexpected(capacity.error());
    return PlanResize(state_.manager, *std::move(capacity), engine_, request);
  }

  // Says whether the job wants another count by now than was asked for: the request is late.
  bool IsLate(const CountsByPodSet& request) const {
    return std::ranges::any_of(request, [&](const auto& entry) {
      const auto wanted = job().counts.find(entry.first);
      return wanted != job().counts.end() && wanted->second != entry.second;
    });
  }

  void Wait(std::string at, std::string event, std::string decision) {
    if (!waiting_) waiting_ = FlowStep{std::move(at), std::move(event), std::move(decision)};
  }

  std::optional<FlowStep> Waiting() {
    if (waiting_) Finish(*waiting_);
    return std::move(waiting_);
  }

  // The manager makes a slice of a scale request, or writes lower counts (W6.3). What an old slice
  // carries was answered by the newest one, or came too late.
  std::optional<FlowStep> AnswerRequest() {
    for (const Workload* slice : {slices_.old, slices_.newest}) {
      if (slice == nullptr) continue;
      const auto request = state_.manager_requests.find(slice->key);
      if (request == state_.manager_requests.end() || request->second.empty()) continue;
      FlowStep step{kManager, fmt::format("workload {} carries the scale request {}",
                                          slice->key.ToString(), Text(request->second))};
      const CountsByPodSet wanted = slices_.Wanted(request->second);
      if (wanted == slices_.CountsToCome()) {
        step.decision = "none: answered before";
      } else if (slice == slices_.old) {
        step.decision = "dropped: the slice is being replaced";
      } else if (IsLate(request->second)) {
        step.decision = "dropped: the job wants other counts by now";
      } else if (!Answer(wanted, step)) {
        return std::nullopt;
      }
      step.writes.push_back(ClearRequest(kManager, slice->key));
      return step;
    }
    return std::nullopt;
  }

  // False when the manager does not, with why.
  bool Answer(const CountsByPodSet& wanted, FlowStep& step) {
    auto plan = Plan(*slices_.newest, wanted);
    if (!plan) {
      error_ = plan.error();
      return false;
    }
    if (plan->decision == ResizeDecision::kRefused) {
      Wait(kManager, step.event, fmt::format("refused: {}", plan->reason));
      return false;
    }
    step.decision = ToString(plan->decision);
    if (plan->decision == ResizeDecision::kInPlace) {
      step.writes.push_back(WriteCounts(kManager, *slices_.newest, *plan->after));
    }
    if (plan->decision == ResizeDecision::kSlicesPerReplica &&
        !AskForReplicas(*plan, wanted, step)) {
      return false;
    }
    EndSurplus(*plan, step);
    if (plan->decision == ResizeDecision::kNewSlice) {
      Workload created = plan->slices.front().workload;  // the scheduler admits it later
      created.admission.reset();
      created.conditions.clear();
      step.writes.push_back(
          WriteWorkload(kManager, std::move(created), "",
                        fmt::format("replaces {}", slices_.newest->key.ToString())));
    }
    return true;
  }

  // A slice for each new replica, which the scheduler admits later. Counts that fall travel with
  // the request.
  bool AskForReplicas(const ResizePlan& plan, const CountsByPodSet& wanted, FlowStep& step) {
    CountsByPodSet lower = CountsOf(*slices_.newest);
    for (auto& [name, count] : lower) count = std::min(count, wanted.at(name));
    Workload parent = *slices_.newest;
    if (lower != CountsOf(parent)) {
      auto shrunk = Plan(parent, lower);
      if (!shrunk) {
        error_ = shrunk.error();
        return false;
      }
      if (shrunk->after) parent = *std::move(shrunk->after);
      step.writes.push_back(WriteCounts(kManager, *slices_.newest, parent));
    }
    for (const PlannedSlice& slice : plan.slices) {
      if (Find(state_.manager.workloads, slice.workload.key) != nullptr) continue;
      Workload created = slice.workload;
      created.admission.reset();
      created.conditions.clear();
      step.writes.push_back(
          WriteWorkload(kManager, std::move(created), "",
                        fmt::format("a replica of {}", slices_.newest->key.ToString())));
    }
    if (!HasCondition(parent, kResizeRequested)) {
      step.writes.push_back(WriteResizing(std::move(parent), true));
    }
    return true;
  }

  // Slices that wait for replicas that nobody wants any more end.
  void EndSurplus(const ResizePlan& plan, FlowStep& step) const {
    const Workload& parent = plan.after ? *plan.after : *slices_.newest;
    if (plan.slices.empty() && HasCondition(parent, kResizeRequested)) {
      step.writes.push_back(WriteResizing(parent, false));
    }
    for (const Workload* replica : slices_.replicas) {
      const bool is_used = std::ranges::any_of(plan.slices, [&](const PlannedSlice& slice) {
        return slice.workload.key == replica->key;
      });
      if (is_used || HasReservation(*replica)) continue;
      step.writes.push_back(FinishWrite(*replica, kManager, "OutOfSync"));
    }
  }

  std::optional<FlowStep> FinishOldSlice() {
    if (slices_.old == nullptr) return std::nullopt;
    const std::string event =
        fmt::format("slice {} {}, and {} has not ended", slices_.newest->key.ToString(),
                    HasReservation(*slices_.newest) ? "holds quota" : "asks for quota",
                    slices_.old->key.ToString());
    if (HasReservation(*slices_.newest)) {
      return FlowStep{
          kManager, event, "the old slice ends", {FinishWrite(*slices_.old, kManager, kReplaced)}};
    }
    if (HasReservation(*slices_.old) && !HasCondition(*slices_.old, kEvicted)) return std::nullopt;
    return FlowStep{kManager,
                    event,
                    "the old slice ends, as it has lost its quota",
                    {FinishWrite(*slices_.old, kManager, "OutOfSync")}};
  }

  // The manager's scheduler admits a slice for the difference (R21.13).
  std::optional<FlowStep> AdmitSlice() {
    if (slices_.old == nullptr || HasReservation(*slices_.newest) ||
        !Replaces(*slices_.newest, *slices_.old)) {
      return std::nullopt;
    }
    // The plan is made as when the slice is asked for: its answer is the same as long as the
    // objects are.
    Workload admitted = *slices_.newest;
    SetCondition(*slices_.newest,
                 {std::string(kFinished), "True", "", ""});  // passed over for the moment
    auto plan = Plan(*slices_.old, CountsOf(admitted));
    *slices_.newest = admitted;
    if (!plan) {
      error_ = plan.error();
      return std::nullopt;
    }
    const std::string event =
        fmt::format("slice {} asks for quota", slices_.newest->key.ToString());
    const Workload* like = nullptr;  // has the quota and the places that the slice gets
    if (plan->decision == ResizeDecision::kNone) like = slices_.old;
    if (plan->decision == ResizeDecision::kInPlace) like = &*plan->after;
    if (plan->decision == ResizeDecision::kNewSlice && plan->slices.front().admitted) {
      like = &plan->slices.front().workload;
    }
    if (like == nullptr) {
      Wait(kManager, event, fmt::format("waits: {}", plan->reason));
      return std::nullopt;
    }
    admitted.admission = like->admission;
    admitted.conditions = like->conditions;
    return FlowStep{
        kManager,
        event,
        "admitted",
        {WriteWorkload(kManager, std::move(admitted), "status.conditions[QuotaReserved]", "True"),
         FinishWrite(*slices_.old, kManager, kReplaced)}};
  }

  // The manager's scheduler admits as many slices per replica as fit.
  std::optional<FlowStep> AdmitReplicas() {
    if (slices_.old != nullptr || slices_.replicas.empty() || !HasReservation(*slices_.newest))
      return std::nullopt;
    auto plan = Plan(*slices_.newest, slices_.CountsToCome());
    if (!plan) {
      error_ = plan.error();
      return std::nullopt;
    }
    FlowStep step{kManager, fmt::format("{} {} for quota", NamesOfReplicas(),
                                        slices_.replicas.size() == 1 ? "asks" : "ask")};
    for (const PlannedSlice& slice : plan->slices) {
      if (!slice.admitted) continue;
      step.writes.push_back(
          WriteWorkload(kManager, slice.workload, "status.conditions[QuotaReserved]", "True"));
    }
    if (step.writes.empty()) {
      Wait(kManager, step.event, fmt::format("waits: {}", plan->reason));
      return std::nullopt;
    }
    step.decision = fmt::format("{} of {} admitted", step.writes.size(), slices_.replicas.size());
    return step;
  }

  // "slices a, b"
  std::string NamesOfReplicas() const {
    constexpr std::size_t kMostNamed = 5;
    std::vector<std::string> names;
    for (const Workload* replica : slices_.replicas) names.push_back(replica->key.ToString());
    return fmt::format("{} {}", slices_.replicas.size() == 1 ? "slice" : "slices",
                       NamesText(names, kMostNamed));
  }

  // Slices per replica go into both clusters (KEP-77).
  std::optional<FlowStep> SyncReplicas() {
    FlowStep step{"multikueue"};
    for (const Workload* replica : slices_.replicas) {
      if (!HasReservation(*replica)) continue;
      if (Find(state_.worker.workloads, replica->key) != nullptr) continue;
      step.writes.push_back(WriteWorkload(worker(), *replica, "", "copied from the manager"));
    }
    if (step.writes.empty()) return std::nullopt;
    step.event = fmt::format("{} admitted in the manager, and not in the worker",
                             CountWithVerb(step.writes.size(), "slice"));
    step.decision = "synced";
    return step;
  }

  // The manager counts admitted slices per replica in their workload, each once, before they end
  // (W5.7).
  std::optional<FlowStep> FoldReplicas() {
    Workload parent = *slices_.newest;
    FoldedSlices folded(parent);
    FlowStep step{kManager};
    std::vector<FlowWrite> ends;
    for (const Workload* replica : slices_.replicas) {
      if (!HasReservation(*replica)) continue;
      folded.Fold(*replica, parent);
      ends.push_back(FinishWrite(*replica, kManager, kFolded));
    }
    if (ends.empty()) return std::nullopt;
    if (parent != *slices_.newest) {
      FlowWrite counts = WriteCounts(kManager, *slices_.newest, parent);
      counts.field += ", " + AnnotationField(kFoldedSlicesAnnotation);
      counts.value += ", " + *parent.annotations.Find(kFoldedSlicesAnnotation);
      step.writes.push_back(std::move(counts));
    }
    step.event = fmt::format("{} admitted", CountWithVerb(ends.size(), "slice"));
    step.decision = fmt::format("folded into {}", slices_.newest->key.ToString());
    const bool waits = ends.size() < slices_.replicas.size();
    if (HasCondition(parent, kResizeRequested) != waits) {
      step.writes.push_back(WriteResizing(std::move(parent), waits));
    }
    std::ranges::move(ends, std::back_inserter(step.writes));
    return step;
  }

  // "1 slice is", "2 slices are"
  static std::string CountWithVerb(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? " is" : "s are");
  }

  // The worker's copy of the newest slice, with the counts of the manager's: those of its slices
  // per replica that the manager has folded are folded here too.
  Workload CopyInSync(const Workload& copy) const {
    Workload synced = copy;
    FoldedSlices folded(synced);
    for (const Workload& workload : state_.worker.workloads) {
      if (slices_.all.contains(workload.key) && HasReservation(workload) &&
          IsFoldedThere(workload)) {
        folded.Fold(workload, synced);
      }
    }
    return WithCountsOf(std::move(synced), *slices_.newest);
  }

  bool IsFoldedThere(const Workload& replica) const {
    const Workload* original = Find(state_.manager.workloads, replica.key);
    return original != nullptr && HasCondition(*original, kFinished) && EndOf(*original) == kFolded;
  }

  // The reason why a workload has finished.
  static std::string EndOf(const Workload& finished) {
    return FindCondition(finished, kFinished)->reason;
  }

  // MultiKueue copies the manager's workload to the worker, and tells the job its name: without
  // that the job would still be compared with the old one (W6.3).
  std::optional<FlowStep> SyncWorkload() {
    if (!HasReservation(*slices_.newest)) return std::nullopt;
    FlowStep step{"multikueue"};
    const Workload* copy = Find(state_.worker.workloads, slices_.newest->key);
    if (copy == nullptr) {
      step.writes.push_back(
          WriteWorkload(worker(), *slices_.newest, "", "copied from the manager"));
    } else if (NamesOf(*copy) != NamesOf(*slices_.newest)) {
      error_ = Error{ErrorClass::kBadInput,
                     fmt::format("Workload {} has the pod sets {} in the manager and {} in worker "
                                 "{}; want the same in both",
                                 Excerpt(slices_.newest->key.ToString()),
                                 fmt::join(NamesOf(*slices_.newest), ", "),
                                 fmt::join(NamesOf(*copy), ", "), Excerpt(worker()))};
      return std::nullopt;
    } else if (CountsOf(*copy) != CountsOf(*slices_.newest)) {
      step.writes.push_back(WriteCounts(worker(), *copy, CopyInSync(*copy)));
    }
    if (job().prebuilt_workload != slices_.newest->key.name) {
      ScaledJob told = job();
      told.prebuilt_workload = slices_.newest->key.name;
      step.writes.push_back({worker(), job().kind, job().key,
                             fmt::format("metadata.labels[{}]", kPrebuiltWorkload),
                             slices_.newest->key.name, std::move(told)});
    }
    for (const Workload& workload : state_.worker.workloads) {
      if (!slices_.all.contains(workload.key) || workload.key == slices_.newest->key) continue;
      if (HasCondition(workload, kFinished)) continue;
      const Workload* original = Find(state_.manager.workloads, workload.key);
      if (original != nullptr && HasCondition(*original, kFinished)) {
        step.writes.push_back(FinishWrite(workload, worker(),
                                          IsReplicaSlice(workload) ? EndOf(*original) : kReplaced));
      }
    }
    if (step.writes.empty()) return std::nullopt;
    step.event = fmt::format("workload {} of the manager is not as it is in the worker",
                             slices_.newest->key.ToString());
    step.decision = "synced";
    return step;
  }

  // MultiKueue moves a request once: it comes to the manager before it goes from the worker, and
  // one that was answered already, or that an old slice carries, only goes (W6.2).
  std::optional<FlowStep> MoveRequest() {
    for (const auto& [key, request] : state_.worker.requests) {
      if (request.empty() || !slices_.all.contains(key)) continue;
      FlowStep step{"multikueue", fmt::format("workload {} of the worker carries the scale request "
                                              "{}",
                                              key.ToString(), Text(request))};
      const auto there = state_.manager_requests.find(slices_.newest->key);
      const bool is_there = there != state_.manager_requests.end() && there->second == request;
      if (key != slices_.workload->key) {
        step.decision = "dropped: the slice was replaced";
      } else if (!NamesAny(*slices_.workload, request)) {
        step.decision = "dropped: it names no pod set of the workload";
      } else if (IsLate(request)) {
        step.decision = "dropped: the job wants other counts by now";
      } else if (is_there || slices_.Wanted(request) == slices_.CountsToCome()) {
        step.decision = "moved before";
      } else {
        step.decision = "moved to the manager";
        step.writes.push_back(SetRequest(kManager, slices_.newest->key, request));
      }
      step.writes.push_back(ClearRequest(worker(), key));
      return step;
    }
    return std::nullopt;
  }

  // The worker reports counts that differ, and the job runs on (W6.1).
  std::optional<FlowStep> ReportRequest() {
    const CountsByPodSet has = CountsOf(*slices_.workload);
    const CountsByPodSet wants = With(has, job().counts);
    const CountsByPodSet to_come = slices_.CountsToCome();
    if (wants == to_come) return std::nullopt;  // they are, or are under way
    if (wants == has && slices_.replicas.empty()) return std::nullopt;
    const auto asked = state_.manager_requests.find(slices_.newest->key);
    if (asked != state_.manager_requests.end() && slices_.Wanted(asked->second) == wants) {
      return std::nullopt;
    }
    CountsByPodSet request;
    bool grows = false;
    for (const auto& [name, count] : wants) {
      const auto later = to_come.find(name);
      const bool waits_for_more = later != to_come.end() && later->second > has.at(name);
      if (count == has.at(name) && !(waits_for_more && !slices_.replicas.empty())) continue;
      request[name] = count;
      grows = grows || count > has.at(name);
    }
    return FlowStep{"worker",
                    fmt::format("{} {} wants {}, its workload has {}", job().kind,
                                job().key.ToString(), Text(wants), Text(has)),
                    grows ? "scale-up: reported" : "scale-down: reported",
                    {SetRequest(worker(), slices_.workload->key, request)}};
  }

  // Counts agree: gated pods start, pods beyond the counts end (W6.4).
  std::optional<FlowStep> StartOrEndPods() {
    const CountsByPodSet has = CountsOf(*slices_.workload);
    const CountsByPodSet wants = With(has, job().counts);
    const bool waits_for_more = !slices_.replicas.empty() && wants == slices_.CountsToCome();
    if ((wants != has && !waits_for_more) || With(has, job().runs) == has) {
      return std::nullopt;
    }
    if (!HasReservation(*slices_.workload)) return std::nullopt;
    if (job().suspended) {
      Wait("worker", fmt::format("{} {} is suspended", job().kind, job().key.ToString()),
           "waits: for the worker's job controller");
      return std::nullopt;
    }
    std::vector<std::string> changes;
    for (const auto& [name, count] : has) {
      const auto running = job().runs.find(name);
      const std::int64_t more = count - (running == job().runs.end() ? 0 : running->second);
      if (more > 0) changes.push_back(fmt::format("{} of {} start", more, name));
      if (more < 0) changes.push_back(fmt::format("{} of {} end", -more, name));
    }
    ScaledJob runs = job();
    runs.runs = has;
    return FlowStep{"worker",
                    waits_for_more ? fmt::format("workload {} has {}, and its job wants more",
                                                 slices_.workload->key.ToString(), Text(has))
                                   : fmt::format("{} {} and its workload have {}", job().kind,
                                                 job().key.ToString(), Text(has)),
                    fmt::format("pods: {}", fmt::join(changes, ", ")),
                    {{worker(), job().kind, job().key, "pods", Text(has), std::move(runs)}}};
  }

  // Notes the quota that everything else waits for: the manager's first, then the worker's.
  void NoteQuota() {
    if (!HasReservation(*slices_.newest)) {
      Wait(kManager, fmt::format("workload {} asks for quota", slices_.newest->key.ToString()),
           "waits: for the manager's scheduler");
    } else if (!HasReservation(*slices_.workload)) {
      Wait("worker", fmt::format("workload {} asks for quota", slices_.workload->key.ToString()),
           "waits: for the worker's scheduler");
    }
  }

  void Finish(FlowStep& step) const {
    const ScaledJob* after = &job();
    for (const FlowWrite& write : step.writes) {
      if (const auto* changed = std::get_if<ScaledJob>(&write.after)) after = changed;
    }
    step.in_sync = after->elastic && !after->prebuilt_workload.empty();
    step.suspended = after->suspended;
    step.runs = after->runs;
  }

  static constexpr const char* kReplaced = "WorkloadSliceReplaced";
  static constexpr const char* kFolded = "Folded";

  MultiKueueState& state_;
  const FlowSlices slices_;
  const Engine& engine_;
  ManagerCapacity& capacity_;
  std::optional<FlowStep> waiting_;
  std::optional<Error> error_;
};

Result<std::optional<FlowStep>> NextStep(MultiKueueState& state, const Engine& engine,
                                         ManagerCapacity& capacity) {
  auto slices = FindFlowSlices(state);
  if (!slices) return tl::unexpected(slices.error());
  return Flow(state, *std::move(slices), engine, capacity).Next();
}

}  // namespace

Result<std::optional<FlowStep>> NextFlowStep(MultiKueueState& state, const Engine& engine) {
  ManagerCapacity capacity(engine);
  return NextStep(state, engine, capacity);
}

Result<std::vector<FlowStep>> PlanFlow(MultiKueueState state, const Engine& engine) {
  constexpr std::size_t kMostSteps = 1000;  // none is taken twice, so that this is not reached
  std::vector<FlowStep> steps;
  ManagerCapacity capacity(engine);
  while (true) {
    if (steps.size() == kMostSteps) {
      return tl::unexpected(Error{ErrorClass::kInternal,
                                  fmt::format("the flow has not ended after {} steps; the last is: "
                                              "{}",
                                              kMostSteps, steps.back().decision)});
    }
    auto step = NextStep(state, engine, capacity);
    if (!step) return tl::unexpected(step.error());
    if (!*step) break;
    steps.push_back(**std::move(step));
    if (steps.back().writes.empty()) break;
    for (const FlowWrite& write : steps.back().writes) {
      const auto* workload = std::get_if<Workload>(&write.after);
      if (workload != nullptr && write.cluster == kManager) {
        capacity.Follow(*workload, state.manager);
      }
    }
    CarryOut(steps.back(), steps.back().writes.size(), state);
    if (!engine.budget().MayContinue()) return tl::unexpected(engine.budget().Check().error());
  }
  return steps;
}

}  // namespace espalier
