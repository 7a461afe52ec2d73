#include "tests/chaos/controller.hpp"

#include <algorithm>
#include <shared_mutex>
#include <utility>

#include <fmt/format.h>

#include "espalier/v1/placement.grpc.pb.h"
#include "espalier/v1/questions.pb.h"
#include "host/engine/booked_usage.hpp"
#include "host/live/admitted_workloads.hpp"
#include "service/wire/answers.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/questions.hpp"
#include "service/wire/status_details.hpp"
#include "service/wire/workloads.hpp"

namespace espalier::chaos {
namespace {

using attack::kPatience;
using attack::Reply;

constexpr const char* kConfirmHolds = "/espalier.v1.Placement/ConfirmHolds";
constexpr const char* kReleaseHolds = "/espalier.v1.Placement/ReleaseHolds";
constexpr const char* kExtendHolds = "/espalier.v1.Placement/ExtendHolds";
constexpr const char* kValidate = "/espalier.v1.Questions/Validate";
constexpr std::int64_t kLongHold = 3600;
constexpr std::int64_t kAnswerBytes = std::int64_t{1} << 30;

WorkloadRequest Gang(ObjectKey key, std::int32_t pods, Amount cpu, const std::string& level) {
  WorkloadRequest request;
  request.key = std::move(key);
  PodSetRequest& pod_set = request.pod_sets.emplace_back();
  pod_set.name = "main";
  pod_set.flavor = "main";
  pod_set.count = pods;
  pod_set.requests = {{"cpu", cpu}};
  TopologyRequest& topology = pod_set.topology_request.emplace();
  if (level.empty()) {
    topology.unconstrained = true;
  } else {
    topology.required = level;
  }
  return request;
}

v1::PlaceRequest PlaceMessage(const std::vector<WorkloadRequest>& requests) {
  v1::PlaceRequest message;
  message.set_mode(v1::PLACEMENT_MODE_NOMINATE);
  message.set_domain_naming(v1::DOMAIN_NAMING_NAME);
  *message.mutable_workloads() = *ToProto(requests);
  return message;
}

// Returns whether the server gave no answer, so that the call is to be made again: who made it does
// not know what became of it, or was sent away as its deadline was near.
bool IsUnknown(const Reply& reply) {
  return reply.code() == grpc::UNAVAILABLE || reply.code() == grpc::DEADLINE_EXCEEDED ||
         reply.code() == grpc::CANCELLED || reply.code() == grpc::RESOURCE_EXHAUSTED;
}

AdmittedUsage UsageOf(const Held& held) {
  AdmittedUsage usage;
  usage.key = held.request.key;
  usage.usage = held.usage;
  return InOrder(std::move(usage));
}

// The workload as a controller would ask about it, admitted where it was held.
Workload AsAdmitted(const Held& held) {
  const PodSetRequest& asked = held.request.pod_sets.front();
  Workload workload;
  workload.key = held.request.key;
  PodSet& pod_set = workload.pod_sets.emplace_back();
  pod_set.name = asked.name;
  pod_set.count = asked.count;
  pod_set.pod_template.requests = asked.requests;
  pod_set.topology_request = asked.topology_request;
  Admission& admission = workload.admission.emplace();
  admission.cluster_queue = "queue";
  PodSetAssignment& assignment = admission.pod_set_assignments.emplace_back();
  assignment.name = asked.name;
  assignment.count = asked.count;
  assignment.flavors = {{"cpu", asked.flavor}};
  assignment.resource_usage = Times(asked.requests, asked.count);
  assignment.topology_assignment = *held.answer.pod_sets.front().assignment;
  workload.conditions = {{"QuotaReserved", "True", "", ""}};
  return workload;
}

std::vector<v1::HoldProblem> ProblemsOf(const Reply& reply) {
  const auto problems = DetailIn<v1::HoldProblems>(reply.status);
  if (!problems) return {};
  return {problems->problems().begin(), problems->problems().end()};
}

}  // namespace

bool AnswersByPosition::Agrees(const StatePosition& position, int question,
                               const std::string& answer) {
  const std::lock_guard lock(mutex_);
  const auto [entry, added] =
      answers_.try_emplace({position.epoch, position.generation, question}, answer);
  return added || entry->second == answer;
}

const std::vector<WorkloadRequest>& Questions() {
  static const std::vector<WorkloadRequest> questions = {
      Gang({"", "q0"}, 4, 4000, "rack"), Gang({"", "q1"}, 7, 1000, "rack"),
      Gang({"", "q2"}, 12, 2000, "block"), Gang({"", "q3"}, 30, 1000, "")};
  return questions;
}

Controller::Controller(Arena& arena, std::string name, std::uint64_t seed, bool encrypted)
    : arena_(arena), name_(std::move(name)), encrypted_(encrypted), random_(seed) {}

void Controller::Run(const std::atomic<bool>& stop) {
  if (takes_over_) TakeOver();
  while (!stop) {
    if (!lost_.empty()) Remake();
    switch (random_.Below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        Hold();
        break;
      case 5:
      case 6:
      case 7:
      case 8:
        Confirm();
        break;
      case 9:
        Release();
        break;
      case 10:
        Extend();
        break;
      case 11:
      case 12:
        Commit();
        break;
      case 13:
      case 14:
      case 15:
        Finish();
        break;
      case 16:
        ChangeCluster();
        break;
      case 17:
        if (random_.Below(4) == 0) LoadAnew();
        break;
      default:
        AskQuestions();
    }
  }
}

std::vector<WorkloadRequest> Controller::AnyGangs() {
  std::vector<WorkloadRequest> gangs;
  for (std::uint64_t i = 1 + random_.Below(3); i > 0; --i) {
    const std::string level = random_.Below(2) == 0 ? "rack" : random_.Below(2) == 0 ? "block" : "";
    gangs.push_back(Gang({name_, fmt::format("w{}", names_++)},
                         static_cast<std::int32_t>(1 + random_.Below(6)),
                         Amount{1000} << (random_.Below(3)), level));
  }
  return gangs;
}

std::optional<v1::PlaceResponse> Controller::PlaceForSure(v1::PlaceRequest request) {
  request.set_mode(v1::PLACEMENT_MODE_SEQUENTIAL);
  request.set_commit(true);
  for (;;) {
    const Reply reply = Call(attack::kPlace, request, {grpc::FAILED_PRECONDITION}, false);
    if (reply.ok()) return reply.As<v1::PlaceResponse>();
    // Somebody else was first, or the server is another one: then it is booked nowhere.
    if (!IsUnknown(reply)) return std::nullopt;
  }
}

void Controller::Hold() {
  const std::vector<WorkloadRequest> gangs = AnyGangs();
  const StatePosition position = Sync();
  const std::int64_t seconds = random_.Below(8) == 0 ? 1 : kLongHold;
  Held held;
  held.asked = arena_.world.Now();
  held.earliest_end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  v1::PlaceRequest request = PlaceMessage(gangs);
  *request.mutable_state() = ToProto(position);
  request.set_hold_seconds(seconds);
  request.set_hold_owner(name_);
  request.set_commit_token(gangs[0].key.ToString());
  const auto response = PlaceForSure(request);
  if (!response) return;
  WorkBudget budget(kAnswerBytes);
  const auto answers = FromProto(gangs, response->answers(), budget);
  if (!answers || response->hold_ids_size() != std::ssize(gangs)) {
    arena_.tally.Problem(&Counts::wrong, "the answer to Place cannot be read");
    return;
  }
  const StatePosition committed = FromProto(response->committed());
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    held.id = response->hold_ids(static_cast<int>(i));
    if (held.id.empty()) continue;
    held.epoch = committed.epoch;
    held.request = gangs[i];
    held.answer = (*answers)[i];
    held.usage = BookedUsage(gangs[i], held.answer);
    arena_.world.Begin(gangs[i].key.ToString(), committed, held.usage);
    arena_.tally.Add(&Counts::holds);
    held_[held.id] = held;
  }
}

std::vector<std::string> Controller::AnyHolds(std::size_t most) {
  std::vector<std::string> ids;
  for (const auto& [id, held] : held_) ids.push_back(id);
  random_.Shuffle(ids);
  if (ids.size() > most) ids.resize(most);
  return ids;
}

bool Controller::MayHaveEnded(const Arena& arena, const Held& held) {
  return held.given_up || std::chrono::steady_clock::now() >= held.earliest_end ||
         arena.world.MayBeBroken(held.usage, held.asked);
}

void Controller::Drop(const std::string& id) {
  const auto held = held_.find(id);
  if (held == held_.end()) return;
  if (!MayHaveEnded(arena_, held->second)) {
    arena_.tally.Problem(&Counts::lost,
                         fmt::format("the hold {} of {} is gone, and nobody ended it", id, name_));
  }
  arena_.tally.Add(&Counts::ended);
  arena_.world.EndSometime(held->second.request.key.ToString(), held->second.epoch);
  held_.erase(held);
}

bool Controller::AreDone(const std::vector<std::string>& ids, const Reply& reply,
                         v1::HoldProblemReason done, bool repeated) {
  const std::vector<v1::HoldProblem> problems = ProblemsOf(reply);
  if (problems.empty()) {
    arena_.tally.Problem(&Counts::wrong, "refused holds without HoldProblems: " + reply.Text());
  }
  std::size_t number_done = 0;
  for (const v1::HoldProblem& problem : problems) {
    if (repeated && problem.reason() == done) {
      ++number_done;
    } else if (problem.reason() == v1::HOLD_PROBLEM_REASON_EXPIRED ||
               problem.reason() == v1::HOLD_PROBLEM_REASON_BROKEN ||
               problem.reason() == v1::HOLD_PROBLEM_REASON_DROPPED) {
      Drop(problem.id());
    } else {
      // Unknown is right in another server.
      if (!Current()) return false;
      const auto held = held_.find(problem.id());
      if (held == held_.end()) continue;
      arena_.tally.Problem(&Counts::lost,
                           fmt::format("the hold {}: {}", problem.id(), reply.Text()));
      held_.erase(held);
    }
  }
  return number_done == ids.size();
}

void Controller::Confirm() {
  std::shared_lock lock(arena_.world.reporting, std::defer_lock);
  {
    const Pulse::Busy busy(arena_.pulse);
    lock.lock();
  }
  const std::vector<std::string> ids = AnyHolds(1 + random_.Below(3));
  if (ids.empty()) return;
  StateDelta delta;
  for (const std::string& id : ids) delta.set_workloads.push_back(UsageOf(held_.at(id)));
  v1::ConfirmHoldsRequest request;
  request.mutable_ids()->Assign(ids.begin(), ids.end());
  *request.mutable_update() = ToProto(delta);
  const bool names_base = random_.Below(3) == 0;
  const auto admit = [&] {
    for (const AdmittedUsage& workload : delta.set_workloads) arena_.world.Admit(workload);
    for (const std::string& id : ids) held_.erase(id);
    arena_.tally.Add(&Counts::confirms, std::ssize(ids));
  };
  for (bool repeated = false;;) {
    if (names_base) {
      const auto position = Current();
      if (!position) return;
      *request.mutable_update()->mutable_base() = ToProto(*position);
    }
    const Reply reply = Call(
        kConfirmHolds, request,
        {grpc::FAILED_PRECONDITION, grpc::NOT_FOUND, grpc::ABORTED, grpc::ALREADY_EXISTS}, false);
    if (reply.ok()) return admit();
    if (IsUnknown(reply)) {
      repeated = true;
      continue;
    }
    if (reply.code() == grpc::FAILED_PRECONDITION) {
      const auto position = Current();  // the holds of an earlier one are lost with it
      if (!position || !held_.contains(ids[0])) return;
      continue;
    }
    if (AreDone(ids, reply, v1::HOLD_PROBLEM_REASON_CONFIRMED, repeated)) admit();
    return;
  }
}

void Controller::Release() {
  const std::vector<std::string> ids = AnyHolds(1 + random_.Below(3));
  if (ids.empty()) return;
  v1::ReleaseHoldsRequest request;
  request.mutable_ids()->Assign(ids.begin(), ids.end());
  const auto forget = [&] {
    for (const std::string& id : ids) {
      const auto held = held_.find(id);
      if (held == held_.end()) continue;
      arena_.world.EndSometime(held->second.request.key.ToString(), held->second.epoch);
      held_.erase(held);
    }
    arena_.tally.Add(&Counts::releases, std::ssize(ids));
  };
  for (bool repeated = false;;) {
    const Reply reply = Call(kReleaseHolds, request,
                             {grpc::FAILED_PRECONDITION, grpc::NOT_FOUND, grpc::ABORTED}, false);
    if (reply.ok()) {
      const StatePosition position = FromProto(reply.As<v1::ReleaseHoldsResponse>().state());
      for (const std::string& id : ids) {
        const Held& held = held_.at(id);
        if (held.epoch == position.epoch) arena_.world.End(held.request.key.ToString(), position);
        held_.erase(id);
      }
      arena_.tally.Add(&Counts::releases, std::ssize(ids));
      return;
    }
    if (IsUnknown(reply)) {
      repeated = true;
      for (const std::string& id : ids) held_.at(id).given_up = true;
      continue;
    }
    if (reply.code() == grpc::FAILED_PRECONDITION) {
      Sync();  // nothing is loaded: the holds are lost
      return;
    }
    if (AreDone(ids, reply, v1::HOLD_PROBLEM_REASON_RELEASED, repeated)) {
      forget();
    } else {
      Sync();
    }
    return;
  }
}

void Controller::Extend() {
  const std::vector<std::string> ids = AnyHolds(2);
  if (ids.empty()) return;
  v1::ExtendHoldsRequest request;
  request.mutable_ids()->Assign(ids.begin(), ids.end());
  request.set_hold_seconds(kLongHold);
  const auto asked = std::chrono::steady_clock::now();
  const Reply reply = Call(kExtendHolds, request,
                           {grpc::FAILED_PRECONDITION, grpc::NOT_FOUND, grpc::ABORTED}, false);
  if (reply.ok()) {
    for (const std::string& id : ids) {
      held_.at(id).earliest_end = asked + std::chrono::seconds(kLongHold);
    }
  } else if (reply.code() == grpc::FAILED_PRECONDITION) {
    Sync();
  } else if (!IsUnknown(reply)) {
    AreDone(ids, reply, v1::HOLD_PROBLEM_REASON_UNSPECIFIED, false);
  }
}

void Controller::Commit() {
  const std::vector<WorkloadRequest> gangs = AnyGangs();
  Sync();
  std::shared_lock lock(arena_.world.reporting, std::defer_lock);
  {
    const Pulse::Busy busy(arena_.pulse);
    lock.lock();
  }
  const auto position = Current();
  if (!position) return;
  v1::PlaceRequest request = PlaceMessage(gangs);
  *request.mutable_state() = ToProto(*position);
  request.set_commit_token("commit " + gangs[0].key.ToString());
  const auto response = PlaceForSure(request);
  if (!response) return;
  WorkBudget budget(kAnswerBytes);
  const auto answers = FromProto(gangs, response->answers(), budget);
  if (!answers) {
    arena_.tally.Problem(&Counts::wrong, "the answer to Place cannot be read");
    return;
  }
  std::vector<FlavorLeafUsage> usage;
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    if ((*answers)[i].FirstFailure() != nullptr) continue;
    for (FlavorLeafUsage& entry : BookedUsage(gangs[i], (*answers)[i])) {
      usage.push_back(std::move(entry));
    }
  }
  arena_.world.Commit(request.commit_token(), FromProto(response->committed()), usage);
  arena_.tally.Add(&Counts::commits);
}

void Controller::Finish() {
  Sync();
  std::shared_lock lock(arena_.world.reporting, std::defer_lock);
  {
    const Pulse::Busy busy(arena_.pulse);
    lock.lock();
  }
  const auto workload = arena_.world.AnyWorkload(name_, random_);
  if (!workload) return;
  const auto before = Current();
  if (!before) return;
  arena_.world.Forget(workload->key);
  // From the next generation on at the earliest.
  arena_.world.End(workload->key.ToString(), {before->epoch, before->generation + 1});
  Report({.set_workloads = {{workload->key, 0, 0, {}, {}}}});
}

void Controller::ChangeCluster() {
  Sync();
  std::unique_lock lock(arena_.world.reporting, std::defer_lock);
  {
    const Pulse::Busy busy(arena_.pulse);
    lock.lock();
  }
  const auto base = Current();
  if (!base) return;
  std::vector<std::string> ended;
  const StateDelta delta = arena_.world.Change(random_, ended);
  for (const std::string& token : ended) {
    arena_.world.End(token, {base->epoch, base->generation + 1});
  }
  v1::UpdateStateRequest request = ToProto(delta);
  *request.mutable_base() = ToProto(*base);
  const Reply reply = Call(attack::kUpdateState, request, {grpc::FAILED_PRECONDITION}, false);
  if (reply.ok()) {
    arena_.tally.Add(&Counts::updates);
  } else {
    // Somebody else was first, or nobody knows what became of it: loading settles it.
    Load();
  }
  arena_.world.NoteChanged();
}

void Controller::LoadAnew() {
  Sync();
  std::unique_lock lock(arena_.world.reporting, std::defer_lock);
  {
    const Pulse::Busy busy(arena_.pulse);
    lock.lock();
  }
  Load();
}

void Controller::AskQuestions() {
  const auto question = static_cast<int>(random_.Below(Questions().size()));
  const v1::PlaceRequest request = PlaceMessage({Questions()[static_cast<std::size_t>(question)]});
  const Reply reply =
      Call(attack::kPlace, request, {grpc::FAILED_PRECONDITION, grpc::NOT_FOUND}, false);
  if (!reply.ok()) return;
  const auto response = reply.As<v1::PlaceResponse>();
  const StatePosition position = FromProto(response.state());
  if (arena_.answers.Agrees(position, question, response.answers().SerializeAsString())) return;
  arena_.tally.Problem(
      &Counts::wrong, fmt::format("question {} was answered in two ways at generation {}", question,
                                  position.generation));
}

void Controller::Vanish() {
  predecessors_.merge(held_);
  held_.clear();
  lost_.clear();
  client_.reset();
  takes_over_ = true;
  arena_.tally.Add(&Counts::vanished);
}

// Gives up what its predecessor held, and what that had asked for when it died.
void Controller::TakeOver() {
  Sync();
  StatePosition position;
  for (const v1::Hold& hold : ListHolds(position)) {
    if (hold.owner() != name_) continue;
    predecessors_.erase(hold.id());
    Held& held = held_[hold.id()];
    held.id = hold.id();
    held.epoch = position.epoch;
    held.request.key = {hold.namespace_(), hold.name()};
    // Neither its usage nor its seconds are known here.
    held.earliest_end = std::chrono::steady_clock::now();
  }
  // Those that expired, or broke, while nobody looked after them.
  for (const auto& [id, held] : predecessors_) {
    arena_.world.EndSometime(held.request.key.ToString(), held.epoch);
  }
  predecessors_.clear();
  takes_over_ = false;
  while (!held_.empty()) Release();
  lost_.clear();
}

// Reports the holds that a restart lost, as docs/api.md, "Holds", says.
void Controller::Remake() {
  const std::vector<Held> lost = std::exchange(lost_, {});
  for (const Held& held : lost) {
    if (random_.Below(3) == 0) continue;  // it is placed anew, under another name
    Sync();
    std::shared_lock lock(arena_.world.reporting, std::defer_lock);
    {
      const Pulse::Busy busy(arena_.pulse);
      lock.lock();
    }
    const AdmittedUsage usage = UsageOf(held);
    const Workload workload = AsAdmitted(held);
    bool unknown = false;
    for (int attempt = 0; attempt < 5 || unknown; ++attempt) {
      const auto position = Current();
      if (!position) break;
      v1::ValidateRequest question = *ToProto({&workload, 1});
      *question.mutable_state() = ToProto(*position);
      const Reply valid = Ask(kValidate, question, {grpc::FAILED_PRECONDITION});
      if (!valid.ok()) continue;
      if (valid.As<v1::ValidateResponse>().faults_size() > 0) {
        // Somebody has the room, or the node is gone. A report before may have arrived.
        if (unknown) Report({.set_workloads = {{usage.key, 0, 0, {}, {}}}});
        break;
      }
      v1::UpdateStateRequest request = ToProto(StateDelta{.set_workloads = {usage}});
      *request.mutable_base() = ToProto(*position);
      const Reply reply = Call(attack::kUpdateState, request, {grpc::FAILED_PRECONDITION}, false);
      if (reply.ok()) {
        arena_.world.Begin(usage.key.ToString(),
                           FromProto(reply.As<v1::UpdateStateResponse>().state()), usage.usage);
        arena_.world.Admit(usage);
        arena_.tally.Add(&Counts::remade);
        break;
      }
      unknown = unknown || IsUnknown(reply);
    }
  }
}

}  // namespace espalier::chaos
