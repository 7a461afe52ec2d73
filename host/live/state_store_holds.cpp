// The holds of a StateStore.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "host/live/state_store.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

HoldResult ToHoldResult(Result<StatePosition> changed) {
  if (!changed) return Refused(std::move(changed.error()));
  return *changed;
}

// Returns the change that ends holds.
StateDelta EndOf(const std::vector<std::string>& ids) {
  StateDelta delta;
  for (const std::string& id : ids) delta.set_holds.emplace_back().id = id;
  return delta;
}

std::int64_t SecondsBetween(HoldClock::TimePoint from, HoldClock::TimePoint to) {
  return std::chrono::duration_cast<std::chrono::seconds>(to - from).count();
}

}  // namespace

std::vector<HoldProblem> StateStore::ProblemsOf(const std::vector<std::string>& ids,
                                                HoldClock::TimePoint now) const {
  std::vector<HoldProblem> problems;
  for (const std::string& id : ids) {
    const auto hold = input_->holds().find(id);
    if (hold == input_->holds().end()) {
      problems.push_back(ProblemOf(id, ended_holds_.Find(id)));
    } else if (hold->second->expires <= now) {
      problems.push_back(ProblemOf(id, HoldEnd::kExpired));  // which is about to be noticed
    }
  }
  return problems;
}

void StateStore::NoteEnded(const std::vector<std::string>& ids, HoldEnd how) {
  for (const std::string& id : ids) ended_holds_.Remember(id, how);
  hold_counts_->CountEnd(how, ids.size());
}

void StateStore::NoteLost(const std::vector<LostHold>& lost, HoldEnd how,
                          std::vector<LostHold>* told) {
  for (const LostHold& hold : lost) ended_holds_.Remember(hold.id, how);
  hold_counts_->CountEnd(how, lost.size());
  if (told != nullptr) told->insert(told->end(), lost.begin(), lost.end());
}

HoldResult StateStore::PlaceHolds(const StatePosition& base, std::vector<Hold> holds,
                                  WorkBudget& budget) {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(base);
  if (!current) return Refused(current.error());
  std::vector<HoldProblem> problems;
  for (const Hold& hold : holds) {
    const Hold* other = FindHoldOf(input_->holds(), hold.workload);
    if (other == nullptr) continue;
    problems.push_back(
        {other->id, std::nullopt, true,
         fmt::format("workload {} has hold {} already, of {}, {} seconds old; confirm, extend or "
                     "release that one",
                     Excerpt(hold.workload.ToString()), Excerpt(other->id), Excerpt(other->owner),
                     SecondsBetween(other->made, hold.made))});
  }
  if (!problems.empty()) return Refused(std::move(problems));
  const std::size_t made = holds.size();
  StateDelta delta;
  delta.set_holds = std::move(holds);
  const auto changed = MakeChange(**current, std::move(delta), budget);
  if (changed) hold_counts_->made += static_cast<std::int64_t>(made);
  return ToHoldResult(changed);
}

HoldResult StateStore::ConfirmHolds(HoldConfirmation confirmation, HoldClock::TimePoint now,
                                    WorkBudget& budget, std::vector<LostHold>* broken) {
  const std::vector<std::string>& ids = confirmation.ids;
  if (auto checked = CheckHoldIds(ids); !checked) return Refused(checked.error());
  const std::lock_guard lock(change_mutex_);
  const auto current = At(confirmation.base);
  if (!current) return Refused(current.error());
  if (auto problems = ProblemsOf(ids, now); !problems.empty()) return Refused(std::move(problems));
  StateDelta delta = std::move(confirmation.delta);
  if (!confirmation.reported) {
    const ReportedUsage reported(delta);
    for (const std::string& id : ids) {
      const auto checked = reported.CheckIsOf(*input_->holds().find(id)->second);
      if (!checked) return Refused(checked.error());
    }
  }
  for (const std::string& id : ids) delta.set_holds.emplace_back().id = id;
  const auto changed = MakeChange(**current, std::move(delta), budget,
                                  std::move(confirmation.configuration), broken);
  if (changed) NoteEnded(ids, HoldEnd::kConfirmed);
  return ToHoldResult(changed);
}

HoldResult StateStore::ReleaseHolds(const std::vector<std::string>& ids, HoldClock::TimePoint now,
                                    WorkBudget& budget) {
  if (auto checked = CheckHoldIds(ids); !checked) return Refused(checked.error());
  const std::lock_guard lock(change_mutex_);
  const auto current = At(std::nullopt);
  if (!current) return Refused(current.error());
  if (auto problems = ProblemsOf(ids, now); !problems.empty()) return Refused(std::move(problems));
  const auto changed = MakeChange(**current, EndOf(ids), budget);
  if (changed) NoteEnded(ids, HoldEnd::kReleased);
  return ToHoldResult(changed);
}

HoldResult StateStore::ExtendHolds(const std::vector<std::string>& ids, HoldClock::TimePoint now,
                                   HoldClock::TimePoint expires) {
  if (auto checked = CheckHoldIds(ids); !checked) return Refused(checked.error());
  const std::lock_guard lock(change_mutex_);
  const auto current = At(std::nullopt);
  if (!current) return Refused(current.error());
  if (auto problems = ProblemsOf(ids, now); !problems.empty()) return Refused(std::move(problems));
  for (const std::string& id : ids) input_->ExtendHold(id, expires);
  return (*current)->position;
}

Result<HoldClock::TimePoint> StateStore::ExpireHolds(HoldClock::TimePoint now, WorkBudget& budget,
                                                     Expired* expired) {
  const std::lock_guard lock(change_mutex_);
  auto next = HoldClock::TimePoint::max();
  const auto current = At(std::nullopt);
  if (!current) return next;  // nothing is loaded, or ever will be
  std::vector<std::string> ids;
  for (const auto& [id, hold] : input_->holds()) {
    if (hold->expires <= now) {
      ids.push_back(id);
    } else {
      next = std::min(next, hold->expires);
    }
  }
  if (ids.empty()) return next;
  const auto changed = MakeChange(**current, EndOf(ids), budget);
  if (!changed) return tl::unexpected(changed.error());
  NoteEnded(ids, HoldEnd::kExpired);
  if (expired != nullptr) *expired = {*changed, std::move(ids)};
  return next;
}

Result<StateStore::HoldsAt> StateStore::ListHolds() {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(std::nullopt);
  if (!current) return tl::unexpected(current.error());
  HoldsAt listed{(*current)->position, {}};
  for (const auto& [id, hold] : input_->holds()) listed.holds.push_back(hold);
  return listed;
}

std::shared_ptr<const Hold> StateStore::FindHoldOfOthers(std::span<const std::string> ids,
                                                         std::span<const std::string> makers) {
  const std::lock_guard lock(change_mutex_);
  if (input_ == nullptr) return nullptr;
  for (const std::string& id : ids) {
    const auto found = input_->holds().find(id);
    if (found == input_->holds().end() || found->second->maker.empty()) continue;
    if (std::ranges::find(makers, found->second->maker) == makers.end()) return found->second;
  }
  return nullptr;
}

Result<void> StateStore::KeepHolds(IndexedInput& input, ClusterState& state, WorkBudget& budget,
                                   std::vector<LostHold>& dropped) {
  if (input_ == nullptr || input_->holds().empty()) return {};
  dropped = HoldsLostIn(input.input(), input_->holds());
  StateDelta delta;
  auto lost = dropped.begin();  // both are by id
  for (const auto& [id, hold] : input_->holds()) {
    if (lost != dropped.end() && lost->id == id) {
      ++lost;
    } else {
      delta.set_holds.push_back(*hold);
    }
  }
  const std::int64_t before = input.bytes();
  const auto undo = input.Apply(std::move(delta));
  if (!undo) return tl::unexpected(undo.error());
  budget.Charge(input.bytes() - before);
  const StateChange change = input.ChangeFrom(*undo);
  if (state.CanApply(change)) {
    return state.Apply(change, input.input().share_usage_between_flavors, budget);
  }
  auto built = ClusterState::Build(input.input(), budget);
  if (!built) return tl::unexpected(built.error());
  state = *std::move(built);
  return {};
}

}  // namespace espalier
