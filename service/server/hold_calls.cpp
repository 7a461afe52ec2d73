#include "service/server/hold_calls.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "espalier/v1/error.pb.h"
#include "host/engine/booked_usage.hpp"
#include "host/engine/engine.hpp"
#include "host/live/value_bytes.hpp"
#include "host/model/excerpt.hpp"
#include "service/server/access.hpp"
#include "service/server/arrivals.hpp"
#include "service/server/read_configuration.hpp"
#include "service/server/status_with_position.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/holds.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostProblems = 32;  // in the details of a status
constexpr std::size_t kMostProblemBytes = 2048;
constexpr std::size_t kLongestName = 253;  // of a namespace, a workload and an owner

grpc::StatusCode CodeOf(v1::HoldProblemReason reason) {
  switch (reason) {
    case v1::HOLD_PROBLEM_REASON_UNKNOWN:
      return grpc::StatusCode::NOT_FOUND;
    case v1::HOLD_PROBLEM_REASON_CONFIRMED:
    case v1::HOLD_PROBLEM_REASON_HELD:
      return grpc::StatusCode::ALREADY_EXISTS;
    default:
      return grpc::StatusCode::ABORTED;
  }
}

std::vector<std::string> IdsOf(const google::protobuf::RepeatedPtrField<std::string>& ids) {
  return {ids.begin(), ids.end()};
}

// Checks that a hold of this usage can be taken back in full.
Result<void> CheckAmounts(const ObjectKey& workload, const std::vector<FlavorLeafUsage>& usage) {
  for (const FlavorLeafUsage& entry : usage) {
    for (const auto& [resource, amount] : entry.usage) {
      if (amount >= 0 && amount <= kMostAdmitted) continue;
      return BadInput(fmt::format(
          "workloads: {} would hold {} {} on leaf {}; a hold is of 0 to {} of a resource",
          Excerpt(workload.ToString()), amount, Excerpt(resource), Excerpt(entry.leaf),
          kMostAdmitted));
    }
  }
  return {};
}

}  // namespace

grpc::Status HoldStatus(const HoldRefusal& refusal, const StateStore& store) {
  if (refusal.problems.empty()) return StatusWithPosition(refusal.error, store);
  v1::HoldProblems problems;
  problems.set_count(std::ssize(refusal.problems));
  std::size_t bytes = 0;
  for (const HoldProblem& problem : refusal.problems) {
    bytes += problem.id.size() + 8;
    if (problems.problems_size() == kMostProblems || bytes > kMostProblemBytes) break;
    v1::HoldProblem& row = *problems.add_problems();
    row.set_id(problem.id);
    row.set_reason(ToProto(problem));
  }
  const grpc::StatusCode code = CodeOf(ToProto(refusal.problems.front()));
  v1::ErrorStatus details;
  details.set_code(code);
  details.set_message(ToStatus(refusal.error).error_message());
  details.add_details()->PackFrom(problems);
  return {code, details.message(), details.SerializeAsString()};
}

Result<void> CheckHoldRequest(const v1::PlaceRequest& request) {
  if (request.hold_seconds() == 0) {
    if (request.hold_owner().empty()) return {};
    return BadInput("hold_owner: needs `hold_seconds`, without which nothing is held");
  }
  if (auto checked = CheckHoldSeconds(request.hold_seconds()); !checked) return checked;
  if (!request.commit()) {
    return BadInput("hold_seconds: needs `commit`, in mode SEQUENTIAL: what is held is booked");
  }
  if (request.hold_owner().size() > kLongestName) {
    return BadInput(fmt::format("hold_owner: has {} bytes; at most {} expected",
                                request.hold_owner().size(), kLongestName));
  }
  return {};
}

Result<std::vector<Hold>> HoldsOf(const v1::PlaceRequest& request,
                                  const std::vector<WorkloadRequest>& workloads,
                                  const std::vector<WorkloadAnswer>& answers,
                                  std::uint64_t generation, const std::string& peer,
                                  const std::string& maker, HoldClock::TimePoint now,
                                  WorkBudget& budget, v1::PlaceResponse& response) {
  std::vector<Hold> holds;
  std::set<std::string> ids;
  for (std::size_t i = 0; i < workloads.size() && budget.MayContinue(); ++i) {
    std::string& id = *response.add_hold_ids();
    const ObjectKey& key = workloads[i].key;
    if (key.namespace_.size() > kLongestName || key.name.size() > kLongestName) {
      return BadInput(fmt::format(
          "workloads: the name of the one at position {} has {} bytes, with its namespace {}; what "
          "is held has names of at most {} each",
          i, key.name.size(), key.namespace_.size(), kLongestName));
    }
    AdmittedUsage used;
    if (Fits(answers[i])) used.usage = BookedUsage(workloads[i], answers[i]);
    used = InOrder(std::move(used));
    if (used.usage.empty()) continue;
    if (auto checked = CheckAmounts(key, used.usage); !checked) {
      return tl::unexpected(checked.error());
    }
    Hold& hold = holds.emplace_back();
    hold.id = HoldId(key, i, generation);
    hold.workload = key;
    hold.owner = request.hold_owner().empty() ? peer : request.hold_owner();
    hold.maker = maker;
    hold.usage = std::move(used.usage);
    hold.made = now;
    hold.expires = now + std::chrono::seconds(request.hold_seconds());
    budget.Charge(BytesOf(hold));
    id = hold.id;
    if (ids.insert(hold.id).second) continue;
    return BadInput(fmt::format(
        "workloads: {} is there twice, the second time at position {}; what is held has one name "
        "each",
        Excerpt(key.ToString()), i));
  }
  if (budget.stopped()) return tl::unexpected(budget.Check().error());
  return holds;
}

grpc::Status CheckMakers(const grpc::CallbackServerContext& context, const NamedStates& states,
                         const std::string& state_name,
                         const google::protobuf::RepeatedPtrField<std::string>& ids) {
  if (HasPermission(context, Permission::kAdmin)) return grpc::Status::OK;
  const auto store = states.Find(state_name);
  if (!store) return grpc::Status::OK;  // the call says so
  const auto hold = (*store)->FindHoldOfOthers(IdsOf(ids), CallerOf(context).Names());
  if (hold == nullptr) return grpc::Status::OK;
  return CheckPermission(
      context, Permission::kAdmin,
      fmt::format("as {} made the hold {}", Excerpt(hold->maker), Excerpt(hold->id)));
}

grpc::Status ConfirmHolds(const NamedStates& states, HoldClock& clock,
                          const std::string& feature_gates, const v1::ConfirmHoldsRequest& request,
                          WorkBudget& budget, v1::ConfirmHoldsResponse& response) {
  const v1::UpdateStateRequest& update = request.update();
  if (!update.state_name().empty() && update.state_name() != request.state_name()) {
    return ToStatus({ErrorClass::kBadInput,
                     fmt::format("update.state_name: is \"{}\"; that of the request, \"{}\", or "
                                 "none expected",
                                 Excerpt(update.state_name()), Excerpt(request.state_name()))});
  }
  const auto store = states.Find(request.state_name());
  if (!store) return ToStatus(store.error());
  auto delta = FromProto(update, budget);
  if (!delta) return ToStatus(delta.error());
  HoldConfirmation confirmation{.ids = IdsOf(request.ids()),
                                .base = std::nullopt,
                                .delta = *std::move(delta),
                                .configuration = std::nullopt,
                                .reported = request.reported()};
  if (update.has_base()) confirmation.base = FromProto(update.base());
  if (update.has_set_kueue_configuration()) {
    auto read = ReadConfiguration(update.set_kueue_configuration(), feature_gates, budget);
    if (!read) return ToStatus({read.error().error_class, "update.set_" + read.error().message});
    confirmation.configuration = *std::move(read);
    AddWarnings(*confirmation.configuration, response);
  }
  std::vector<LostHold> broken;
  const auto confirmed =
      (*store)->ConfirmHolds(std::move(confirmation), clock.Now(), budget, &broken);
  if (!confirmed) return HoldStatus(confirmed.error(), **store);
  *response.mutable_state() = ToProto(*confirmed);
  for (const LostHold& hold : broken) *response.add_broken_holds() = ToProto(hold);
  return grpc::Status::OK;
}

grpc::Status ReleaseHolds(const NamedStates& states, HoldClock& clock,
                          const v1::ReleaseHoldsRequest& request, WorkBudget& budget,
                          v1::ReleaseHoldsResponse& response) {
  const auto store = states.Find(request.state_name());
  if (!store) return ToStatus(store.error());
  const auto released = (*store)->ReleaseHolds(IdsOf(request.ids()), clock.Now(), budget);
  if (!released) return HoldStatus(released.error(), **store);
  *response.mutable_state() = ToProto(*released);
  return grpc::Status::OK;
}

grpc::Status ExtendHolds(const NamedStates& states, HoldExpiry& expiry,
                         const v1::ExtendHoldsRequest& request, v1::ExtendHoldsResponse& response) {
  if (auto checked = CheckHoldSeconds(request.hold_seconds()); !checked) {
    return ToStatus(checked.error());
  }
  const auto store = states.Find(request.state_name());
  if (!store) return ToStatus(store.error());
  const HoldClock::TimePoint now = expiry.clock().Now();
  const HoldClock::TimePoint expires = now + std::chrono::seconds(request.hold_seconds());
  const auto extended = (*store)->ExtendHolds(IdsOf(request.ids()), now, expires);
  if (!extended) return HoldStatus(extended.error(), **store);
  expiry.Expect(expires);
  *response.mutable_state() = ToProto(*extended);
  return grpc::Status::OK;
}

grpc::Status ListHolds(const NamedStates& states, HoldClock& clock,
                       const v1::ListHoldsRequest& request, WorkBudget& budget,
                       Calls::NextMessage<v1::ListHoldsResponse>& next) {
  const auto store = states.Find(request.state_name());
  if (!store) return ToStatus(store.error());
  auto listed = (*store)->ListHolds();
  if (!listed) return StatusWithPosition(listed.error(), **store);
  if (!budget.Charge(std::ssize(listed->holds) * static_cast<std::int64_t>(sizeof(void*) * 2))) {
    return ToStatus(budget.Check().error());
  }
  const auto pages = std::make_shared<PagesOfHolds>(listed->position, std::move(listed->holds),
                                                    clock.Now(), request.usage());
  next = [pages](v1::ListHoldsResponse& response, bool& more) {
    more = pages->Next(response);
    return grpc::Status::OK;
  };
  return grpc::Status::OK;
}

}  // namespace espalier
