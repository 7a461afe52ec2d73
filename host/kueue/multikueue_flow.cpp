#include "host/kueue/multikueue_flow.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/job_slices.hpp"
#include "host/kueue/manager_capacity.hpp"
#include "host/kueue/resize_plan.hpp"
#include "host/kueue/workload_slices.hpp"
#include "host/kueue/workload_status.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

constexpr const char* kManager = "manager";

std::string Text(const PodCounts& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("{}={}", name, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string Json(const PodCounts& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) parts.push_back(fmt::format("\"{}\":{}", name, count));
  return fmt::format("{{{}}}", fmt::join(parts, ","));
}

std::string AnnotationField(std::string_view key) {
  return fmt::format("metadata.annotations[{}]", key);
}

PodCounts CountsOf(const Workload& workload) {
  PodCounts counts;
  for (const PodSet& pod_set : workload.pod_sets) counts[pod_set.name] = pod_set.count;
  return counts;
}

// The counts of `workload` with those of a request in their place.
PodCounts With(const Workload& workload, const PodCounts& request) {
  PodCounts counts = CountsOf(workload);
  for (const auto& [name, count] : request) {
    if (counts.contains(name)) counts[name] = count;
  }
  return counts;
}

bool NamesAny(const Workload& workload, const PodCounts& request) {
  return std::ranges::any_of(workload.pod_sets,
                             [&](const PodSet& pod_set) { return request.contains(pod_set.name); });
}

const Workload* Find(const std::vector<Workload>& workloads, const ObjectKey& key) {
  const auto found = std::ranges::find(workloads, key, &Workload::key);
  return found == workloads.end() ? nullptr : &*found;
}

// The slices of a workload that is one of `workloads`.
std::vector<std::size_t> SlicesOf(const Workload& workload,
                                  const std::vector<Workload>& workloads) {
  return SlicesOf(static_cast<std::size_t>(&workload - workloads.data()), workloads);
}

FlowWrite SetRequest(std::string cluster, const ObjectKey& workload, const PodCounts& request) {
  return {std::move(cluster), "Workload",        workload, AnnotationField(kScaleRequestAnnotation),
          Json(request),      PodCounts(request)};
}

FlowWrite ClearRequest(std::string cluster, const ObjectKey& workload) {
  return {std::move(cluster), "Workload", workload, AnnotationField(kScaleRequestAnnotation), "",
          PodCounts()};
}

FlowWrite WriteWorkload(std::string cluster, Workload workload, std::string field,
                        std::string value) {
  const ObjectKey key = workload.key;
  return {std::move(cluster), "Workload",       key,
          std::move(field),   std::move(value), std::move(workload)};
}

// Writes the counts that differ; `to` is the whole workload afterwards. One update of the object,
// whatever the number of its fields.
FlowWrite WriteCounts(const std::string& cluster, const Workload& from, Workload to) {
  std::vector<std::string> fields;
  std::vector<std::string> values;
  const PodCounts before = CountsOf(from);
  for (const auto& [name, count] : CountsOf(to)) {
    const auto known = before.find(name);
    if (known != before.end() && known->second == count) continue;
    fields.push_back(fmt::format("spec.podSets[{}].count", name));
    values.push_back(std::to_string(count));
  }
  return WriteWorkload(cluster, std::move(to), fmt::format("{}", fmt::join(fields, ", ")),
                       fmt::format("{}", fmt::join(values, ", ")));
}

// The workload with the counts of another, and all else as it is.
// The names of the pod sets, in ascending order.
std::vector<std::string> NamesOf(const Workload& workload) {
  std::vector<std::string> names;
  for (const auto& [name, count] : CountsOf(workload)) names.push_back(name);
  return names;
}

Workload WithCountsOf(Workload workload, const Workload& other) {
  const PodCounts counts = CountsOf(other);
  for (PodSet& pod_set : workload.pod_sets) {
    const auto count = counts.find(pod_set.name);
    if (count != counts.end()) pod_set.count = static_cast<std::int32_t>(count->second);
  }
  return workload;
}

class Flow {
 public:
  Flow(MultiKueueState& state, const Engine& engine, ManagerCapacity& capacity)
      : state_(state), engine_(engine), capacity_(capacity) {}

  Result<std::optional<FlowStep>> Next() {
    if (auto ready = FindObjects(); !ready) return tl::unexpected(ready.error());
    CheckSlices();
    if (error_) return tl::unexpected(*error_);
    if (waiting_) return Waiting();
    for (const auto decide :
         {&Flow::FinishOldSlice, &Flow::AnswerRequest, &Flow::AdmitSlice, &Flow::SyncWorkload,
          &Flow::MoveRequest, &Flow::ReportRequest, &Flow::StartOrEndPods}) {
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

  // W8.10.
  Result<void> FindObjects() {
    const std::string name = fmt::format("{} {} of worker {}", job().kind,
                                         Excerpt(job().key.ToString()), Excerpt(worker()));
    if (!job().elastic) {
      return BadInput(fmt::format("{} lacks the annotation {}: \"true\": it cannot change its size",
                                  name, kElasticJobAnnotation));
    }
    if (job().prebuilt_workload.empty()) {
      return BadInput(fmt::format("{} lacks the label {}: it was not sent by MultiKueue", name,
                                  kPrebuiltWorkloadLabel));
    }
    const ObjectKey key{job().key.namespace_, job().prebuilt_workload};
    workload_ = Find(state_.worker.workloads, key);
    if (workload_ == nullptr) {
      return BadInput(
          fmt::format("{} belongs to Workload {}, which is not among the objects of "
                      "the worker",
                      name, Excerpt(key.ToString())));
    }
    const Workload* copied = Find(state_.manager.workloads, key);
    if (copied == nullptr) {
      return BadInput(
          fmt::format("Workload {} of worker {} is not among the objects of the "
                      "manager",
                      Excerpt(key.ToString()), Excerpt(worker())));
    }
    return FindSlices(*copied);
  }

  // The slices of the job, and those of the manager that have not finished.
  Result<void> FindSlices(const Workload& copied) {
    std::vector<Workload>& workloads = state_.manager.workloads;
    const std::vector<std::size_t> slices = SlicesOf(copied, workloads);
    for (const std::size_t i : slices) slices_.insert(workloads[i].key);
    for (const std::size_t i : SlicesOf(*workload_, state_.worker.workloads)) {
      slices_.insert(state_.worker.workloads[i].key);
    }
    for (const std::size_t i : UnfinishedOf(slices, workloads).chain) {
      chain_.push_back(&workloads[i]);
    }
    if (chain_.empty()) {
      return tl::unexpected(Error{
          ErrorClass::kNotFound,
          fmt::format("Workload {} of the manager has finished", Excerpt(copied.key.ToString()))});
    }
    newest_ = chain_.back();
    if (chain_.size() > 1) old_ = chain_[chain_.size() - 2];
    return {};
  }

  // Slices that contradict each other are for somebody else to end, as when one is resized.
  void CheckSlices() {
    if (chain_.size() < 2) return;
    const bool contradict =
        HasReservation(*old_) && HasReservation(*newest_) && !Replaces(*newest_, *old_);
    if (chain_.size() == 2 && !contradict) return;
    auto plan = Plan(*newest_, CountsOf(*newest_));
    if (plan) {
      Wait(kManager, SlicesText(), fmt::format("refused: {}", plan->reason));
    } else {
      error_ = plan.error();
    }
  }

  std::string SlicesText() const {
    std::vector<std::string> names;
    for (const Workload* slice : chain_) names.push_back(slice->key.ToString());
    return fmt::format("slices {} have not ended", fmt::join(names, ", "));
  }

  Result<ResizePlan> Plan(const Workload& workload, const PodCounts& counts) {
    ResizeRequest request{workload.key, {}, SliceMode::kReplacement, ResizeProfile::kKueue};
    request.counts.assign(counts.begin(), counts.end());
    const PodCounts has = CountsOf(workload);
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
  bool IsLate(const PodCounts& request) const {
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
    for (const Workload* slice : {old_, newest_}) {
      if (slice == nullptr) continue;
      const auto request = state_.manager_requests.find(slice->key);
      if (request == state_.manager_requests.end() || request->second.empty()) continue;
      FlowStep step{kManager, fmt::format("workload {} carries the scale request {}",
                                          slice->key.ToString(), Text(request->second))};
      const PodCounts wanted = With(*newest_, request->second);
      if (wanted == CountsOf(*newest_)) {
        step.decision = "none: answered before";
      } else if (slice == old_) {
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
  bool Answer(const PodCounts& wanted, FlowStep& step) {
    auto plan = Plan(*newest_, wanted);
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
      step.writes.push_back(WriteCounts(kManager, *newest_, *plan->after));
    }
    if (plan->decision == ResizeDecision::kNewSlice) {
      Workload created = plan->slices.front().workload;  // the scheduler admits it later
      created.admission.reset();
      created.conditions.clear();
      step.writes.push_back(WriteWorkload(kManager, std::move(created), "",
                                          fmt::format("replaces {}", newest_->key.ToString())));
    }
    return true;
  }

  static FlowWrite FinishWrite(const Workload& old, std::string cluster,
                               const std::string& reason) {
    Workload finished = old;
    SetCondition(finished, {std::string(kFinished), "True", reason, ""});
    return WriteWorkload(std::move(cluster), std::move(finished), "status.conditions[Finished]",
                         "True, " + reason);
  }

  std::optional<FlowStep> FinishOldSlice() {
    if (old_ == nullptr) return std::nullopt;
    const std::string event = fmt::format(
        "slice {} {}, and {} has not ended", newest_->key.ToString(),
        HasReservation(*newest_) ? "holds quota" : "asks for quota", old_->key.ToString());
    if (HasReservation(*newest_)) {
      return FlowStep{
          kManager, event, "the old slice ends", {FinishWrite(*old_, kManager, kReplaced)}};
    }
    if (HasReservation(*old_) && !HasCondition(*old_, kEvicted)) return std::nullopt;
    return FlowStep{kManager,
                    event,
                    "the old slice ends, as it has lost its quota",
                    {FinishWrite(*old_, kManager, "OutOfSync")}};
  }

  // The manager's scheduler admits a slice for the difference (R21.13).
  std::optional<FlowStep> AdmitSlice() {
    if (old_ == nullptr || HasReservation(*newest_) || !Replaces(*newest_, *old_)) {
      return std::nullopt;
    }
    // As when the slice is asked for: the answer is the same as long as the objects are.
    Workload admitted = *newest_;
    SetCondition(*newest_, {std::string(kFinished), "True", "", ""});  // passed over for the moment
    auto plan = Plan(*old_, CountsOf(admitted));
    *newest_ = admitted;
    if (!plan) {
      error_ = plan.error();
      return std::nullopt;
    }
    const std::string event = fmt::format("slice {} asks for quota", newest_->key.ToString());
    const Workload* like = nullptr;  // has the quota and the places that the slice gets
    if (plan->decision == ResizeDecision::kNone) like = old_;
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
         FinishWrite(*old_, kManager, kReplaced)}};
  }

  // MultiKueue copies the manager's workload to the worker, and tells the job its name: without
  // that the job would still be compared with the old one (W6.3).
  std::optional<FlowStep> SyncWorkload() {
    if (!HasReservation(*newest_)) return std::nullopt;
    FlowStep step{"multikueue"};
    const Workload* copy = Find(state_.worker.workloads, newest_->key);
    if (copy == nullptr) {
      step.writes.push_back(WriteWorkload(worker(), *newest_, "", "copied from the manager"));
    } else if (NamesOf(*copy) != NamesOf(*newest_)) {
      error_ =
          Error{ErrorClass::kBadInput,
                fmt::format("Workload {} has the pod sets {} in the manager and {} in worker "
                            "{}; want the same in both",
                            Excerpt(newest_->key.ToString()), fmt::join(NamesOf(*newest_), ", "),
                            fmt::join(NamesOf(*copy), ", "), Excerpt(worker()))};
      return std::nullopt;
    } else if (CountsOf(*copy) != CountsOf(*newest_)) {
      step.writes.push_back(WriteCounts(worker(), *copy, WithCountsOf(*copy, *newest_)));
    }
    if (job().prebuilt_workload != newest_->key.name) {
      ScaledJob told = job();
      told.prebuilt_workload = newest_->key.name;
      step.writes.push_back({worker(), job().kind, job().key,
                             fmt::format("metadata.labels[{}]", kPrebuiltWorkloadLabel),
                             newest_->key.name, std::move(told)});
    }
    for (const Workload& workload : state_.worker.workloads) {
      if (!slices_.contains(workload.key) || workload.key == newest_->key) continue;
      if (HasCondition(workload, kFinished)) continue;
      const Workload* original = Find(state_.manager.workloads, workload.key);
      if (original != nullptr && HasCondition(*original, kFinished)) {
        step.writes.push_back(FinishWrite(workload, worker(), kReplaced));
      }
    }
    if (step.writes.empty()) return std::nullopt;
    step.event = fmt::format("workload {} of the manager is not as it is in the worker",
                             newest_->key.ToString());
    step.decision = "synced";
    return step;
  }

  // MultiKueue moves a request once: it comes to the manager before it goes from the worker, and
  // one that was answered already, or that an old slice carries, only goes (W6.2).
  std::optional<FlowStep> MoveRequest() {
    for (const auto& [key, request] : state_.worker.requests) {
      if (request.empty() || !slices_.contains(key)) continue;
      FlowStep step{"multikueue", fmt::format("workload {} of the worker carries the scale request "
                                              "{}",
                                              key.ToString(), Text(request))};
      const auto there = state_.manager_requests.find(newest_->key);
      const bool is_there = there != state_.manager_requests.end() && there->second == request;
      if (key != workload_->key) {
        step.decision = "dropped: the slice was replaced";
      } else if (!NamesAny(*workload_, request)) {
        step.decision = "dropped: it names no pod set of the workload";
      } else if (IsLate(request)) {
        step.decision = "dropped: the job wants other counts by now";
      } else if (is_there || With(*newest_, request) == CountsOf(*newest_)) {
        step.decision = "moved before";
      } else {
        step.decision = "moved to the manager";
        step.writes.push_back(SetRequest(kManager, newest_->key, request));
      }
      step.writes.push_back(ClearRequest(worker(), key));
      return step;
    }
    return std::nullopt;
  }

  // The worker reports counts that differ, and the job runs on (W6.1).
  std::optional<FlowStep> ReportRequest() {
    const PodCounts has = CountsOf(*workload_);
    const PodCounts wants = With(*workload_, job().counts);
    if (wants == has || wants == CountsOf(*newest_)) return std::nullopt;  // or under way
    const auto asked = state_.manager_requests.find(newest_->key);
    if (asked != state_.manager_requests.end() && With(*newest_, asked->second) == wants) {
      return std::nullopt;
    }
    PodCounts request;
    bool grows = false;
    for (const auto& [name, count] : wants) {
      if (count == has.at(name)) continue;
      request[name] = count;
      grows = grows || count > has.at(name);
    }
    return FlowStep{"worker",
                    fmt::format("{} {} wants {}, its workload has {}", job().kind,
                                job().key.ToString(), Text(wants), Text(has)),
                    grows ? "scale-up: reported" : "scale-down: reported",
                    {SetRequest(worker(), workload_->key, request)}};
  }

  // Counts agree: gated pods start, pods beyond the counts end (W6.4).
  std::optional<FlowStep> StartOrEndPods() {
    const PodCounts has = CountsOf(*workload_);
    if (With(*workload_, job().counts) != has || With(*workload_, job().runs) == has) {
      return std::nullopt;
    }
    if (!HasReservation(*workload_)) return std::nullopt;
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
    return FlowStep{
        "worker",
        fmt::format("{} {} and its workload have {}", job().kind, job().key.ToString(), Text(has)),
        fmt::format("pods: {}", fmt::join(changes, ", ")),
        {{worker(), job().kind, job().key, "pods", Text(has), std::move(runs)}}};
  }

  // Whose quota it is that everything else waits for.
  void NoteQuota() {
    if (!HasReservation(*newest_)) {
      Wait(kManager, fmt::format("workload {} asks for quota", newest_->key.ToString()),
           "waits: for the manager's scheduler");
    } else if (!HasReservation(*workload_)) {
      Wait("worker", fmt::format("workload {} asks for quota", workload_->key.ToString()),
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

  MultiKueueState& state_;
  const Engine& engine_;
  ManagerCapacity& capacity_;
  const Workload* workload_ = nullptr;  // of the worker: that the job belongs to
  std::set<ObjectKey> slices_;          // of the job, in either cluster
  std::vector<Workload*> chain_;        // of the manager: those that have not ended, oldest first
  Workload* newest_ = nullptr;          // the last of the chain
  Workload* old_ = nullptr;             // the one before it; null: none
  std::optional<FlowStep> waiting_;
  std::optional<Error> error_;
};

}  // namespace

Result<std::optional<FlowStep>> NextFlowStep(MultiKueueState& state, const Engine& engine) {
  ManagerCapacity capacity(engine);
  return Flow(state, engine, capacity).Next();
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
    auto step = Flow(state, engine, capacity).Next();
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
    if (!engine.budget().Pause()) return tl::unexpected(engine.budget().Check().error());
  }
  return steps;
}

void CarryOut(const FlowStep& step, std::size_t writes, MultiKueueState& state) {
  for (std::size_t i = 0; i < std::min(writes, step.writes.size()); ++i) {
    const FlowWrite& write = step.writes[i];
    const bool at_manager = write.cluster == kManager;
    if (const auto* workload = std::get_if<Workload>(&write.after)) {
      PutWorkload(*workload, at_manager ? state.manager.workloads : state.worker.workloads);
    } else if (const auto* job = std::get_if<ScaledJob>(&write.after)) {
      state.worker.job = *job;
    } else {
      const auto& request = std::get<PodCounts>(write.after);
      ScaleRequests& requests = at_manager ? state.manager_requests : state.worker.requests;
      if (request.empty()) {
        requests.erase(write.object);
      } else {
        requests[write.object] = request;
      }
    }
  }
}

}  // namespace espalier
