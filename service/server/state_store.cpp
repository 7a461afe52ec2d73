#include "service/server/state_store.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

namespace espalier {
namespace {

std::uint64_t NewEpoch() {
  std::random_device random;
  std::uint64_t epoch = 0;
  while (epoch == 0) epoch = (std::uint64_t{random()} << 32) | random();
  return epoch;
}

tl::unexpected<Error> Stale(const StatePosition& named, const StatePosition& current) {
  std::string message;
  if (current.generation == 0) {
    message = "no cluster state is loaded; load one first";
  } else if (named.epoch != current.epoch) {
    message =
        fmt::format("the state is of epoch {:x}, not {:x} (the server was restarted); load it anew",
                    current.epoch, named.epoch);
  } else {
    message = fmt::format(
        "the state is at generation {}, not {} (someone else changed it); send what changed or "
        "load it anew",
        current.generation, named.generation);
  }
  return tl::unexpected<Error>(Error{ErrorClass::kStale, std::move(message)});
}

}  // namespace

StateStore::StateStore() {
  // An empty input is always sound.
  current_ = std::make_shared<const Snapshot>(
      Snapshot{{NewEpoch(), 0}, *ClusterState::Build(ClusterStateInput()), 0, {}});
}

std::shared_ptr<const Snapshot> StateStore::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Result<std::shared_ptr<const Snapshot>> StateStore::At(
    const std::optional<StatePosition>& position) const {
  std::shared_ptr<const Snapshot> current = Current();
  const StatePosition& now = current->position;
  if (now.generation == 0 || (position && *position != now)) {
    return Stale(position.value_or(StatePosition{}), now);
  }
  return current;
}

Result<LoadedInput> StateStore::LoadedAt(const std::optional<StatePosition>& position,
                                         WorkBudget& budget) {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(position);
  if (!current) return tl::unexpected(current.error());
  TakeInBooked();
  budget.Charge(std::max(input_->bytes() - input_memory_.bytes(), std::int64_t{0}));
  HoldInput(budget);
  if (!budget.Charge(input_->bytes())) return tl::unexpected(budget.Check().error());
  return LoadedInput{(*current)->position, input_->input()};
}

Result<StatePosition> StateStore::Load(ClusterStateInput input, WorkBudget& budget) {
  auto loaded = std::make_unique<IndexedInput>(std::move(input));
  Result<ClusterState> built = ClusterState::Build(loaded->input(), budget);
  if (!built) return tl::unexpected(built.error());
  const std::lock_guard lock(change_mutex_);
  std::swap(input_, loaded);
  positions_known_ = true;
  booked_ = {};
  not_shared_ = {};
  booked_memory_ = {};
  input_memory_ = budget.HandOver(input_->bytes());
  return Publish(*std::move(built), std::make_shared<KnownGangShapes>());
}

Result<StatePosition> StateStore::Update(const StatePosition& base, StateDelta delta,
                                         WorkBudget& budget) {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(base);
  if (!current) return tl::unexpected(current.error());
  TakeInBooked(delta);
  Result<StateDelta> undo = input_->Apply(std::move(delta));
  if (!undo) return tl::unexpected(undo.error());
  budget.Charge(std::max(input_->bytes() - input_memory_.bytes(), std::int64_t{0}));
  Result<ClusterState> changed = Changed(*undo, budget);
  if (!changed) {
    positions_known_ = false;
    (void)input_->Apply(*std::move(undo));
    return tl::unexpected(changed.error());
  }
  HoldInput(budget);
  // Resolved shapes go on where the nodes do.
  const bool same_nodes = changed->IsBranchOf((*current)->state);
  return Publish(*std::move(changed),
                 same_nodes ? (*current)->shapes : std::make_shared<KnownGangShapes>());
}

Result<ClusterState> StateStore::Changed(const StateDelta& undo, WorkBudget& budget) {
  const ClusterState& current = Current()->state;
  if (const auto change = positions_known_ ? input_->ChangeFrom(undo) : std::nullopt) {
    Result<ClusterState> branch = current.Branch(budget);
    if (!branch) return branch;
    if (branch->Apply(*change, input_->input().share_usage_between_flavors)) {
      branch->ShareUsage(not_shared_.TakeAll(current));
      return branch;
    }
  }
  TakeInBooked();
  Result<ClusterState> built = ClusterState::Build(input_->input(), budget);
  positions_known_ = built.has_value();
  if (built) not_shared_ = {};
  return built;
}

void StateStore::TakeInBooked() { input_->AddTasUsage(booked_.TakeAll(Current()->state)); }

void StateStore::TakeInBooked(const StateDelta& delta) {
  const std::shared_ptr<const Snapshot> current = Current();
  for (const FlavorLeafUsage& set : delta.set_tas_usage) {
    Resources usage = booked_.Take(current->state, set.flavor, set.leaf);
    if (!usage.empty()) input_->AddTasUsage({{set.flavor, set.leaf, std::move(usage)}});
  }
}

Result<StatePosition> StateStore::Book(const StatePosition& base, ClusterState booked,
                                       WorkBudget& budget) {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(base);
  if (!current) return tl::unexpected(current.error());
  if (booked_memory_.bytes() == 0) {
    const std::int64_t bytes = 2 * BookedAmounts::MostBytes(booked);
    if (!budget.Charge(bytes)) return tl::unexpected(budget.Check().error());
    booked_memory_ = budget.HandOver(bytes);
  }
  booked_.Add((*current)->state, booked);
  if (input_->input().share_usage_between_flavors && booked.FlavorsMayShare()) {
    not_shared_.Add((*current)->state, booked);
  }
  return Publish(std::move(booked), (*current)->shapes);
}

void StateStore::HoldInput(WorkBudget& budget) {
  const std::int64_t grown = input_->bytes() - input_memory_.bytes();
  if (grown > 0) {
    input_memory_.Add(budget.HandOver(grown));
  } else {
    input_memory_.Shrink(-grown);
  }
}

StatePosition StateStore::Publish(ClusterState state, std::shared_ptr<KnownGangShapes> shapes) {
  const StatePosition next = Next(Current()->position);
  auto snapshot = std::make_shared<const Snapshot>(
      Snapshot{next, std::move(state), static_cast<std::int64_t>(input_->input().nodes.size()),
               std::chrono::system_clock::now(), std::move(shapes)});
  const std::lock_guard lock(mutex_);
  current_.swap(snapshot);  // the old one is freed after the lock, or by its last reader
  return next;
}

}  // namespace espalier
