#include "service/server/state_store.hpp"

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

Result<LoadedInput> StateStore::LoadedAt(const std::optional<StatePosition>& position) const {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(position);
  if (!current) return tl::unexpected(current.error());
  return LoadedInput{(*current)->position, input_->input()};
}

Result<StatePosition> StateStore::Load(ClusterStateInput input) {
  auto loaded = std::make_unique<IndexedInput>(std::move(input));
  const std::lock_guard lock(change_mutex_);
  std::swap(input_, loaded);
  Result<StatePosition> published = Rebuild();
  if (!published) std::swap(input_, loaded);
  return published;
}

Result<StatePosition> StateStore::Update(const StatePosition& base, StateDelta delta) {
  const std::lock_guard lock(change_mutex_);
  if (const auto current = At(base); !current) return tl::unexpected(current.error());
  if (auto applied = input_->Apply(std::move(delta)); !applied) {
    return tl::unexpected(applied.error());
  }
  return Rebuild();
}

Result<StatePosition> StateStore::Book(const StatePosition& base,
                                       const std::vector<FlavorLeafUsage>& usage) {
  const std::lock_guard lock(change_mutex_);
  if (const auto current = At(base); !current) return tl::unexpected(current.error());
  input_->AddTasUsage(usage);
  const std::shared_ptr<const Snapshot> current = Current();
  ClusterState state = current->state.Branch();
  state.AddAdmittedUsage(usage, input_->input().share_usage_between_flavors);
  return Publish(std::move(state), current->shapes);
}

// Flavors that share nodes see each other's usage as it was when the state was built, and no later
// (R5.6, R5.7).
Result<StatePosition> StateStore::Rebuild() {
  Result<ClusterState> state = ClusterState::Build(input_->input());
  if (!state) return tl::unexpected(state.error());
  return Publish(*std::move(state), std::make_shared<KnownGangShapes>());
}

StatePosition StateStore::Publish(ClusterState state, std::shared_ptr<KnownGangShapes> shapes) {
  StatePosition next = Current()->position;
  ++next.generation;
  auto snapshot = std::make_shared<const Snapshot>(
      Snapshot{next, std::move(state), static_cast<std::int64_t>(input_->input().nodes.size()),
               std::chrono::system_clock::now(), std::move(shapes)});
  const std::lock_guard lock(mutex_);
  current_.swap(snapshot);  // the old one is freed after the lock, or by its last reader
  return next;
}

}  // namespace espalier
