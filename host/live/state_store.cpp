#include "host/live/state_store.hpp"

#include <algorithm>
#include <exception>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/live/state_checksum.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

std::uint64_t NewEpoch() {
  std::random_device random;
  std::uint64_t epoch = 0;
  while (epoch == 0) epoch = (std::uint64_t{random()} << 32) | random();
  return epoch;
}

std::shared_ptr<const PublishedState> Empty() {
  // An empty input is always sound.
  return std::make_shared<const PublishedState>(
      PublishedState{{NewEpoch(), 0}, *ClusterState::Build(ClusterStateInput()), 0, {}});
}

tl::unexpected<Error> Stale(const StatePosition& named, const StatePosition& current) {
  std::string message;
  if (current.generation == 0) {
    message = "no cluster state is loaded; load one first";
  } else if (named.epoch != current.epoch) {
    message =
        fmt::format("the state is of epoch {:x}, not {:x} (the server was restarted); load it anew",
                    current.epoch, named.epoch);
  } else if (named.generation > current.generation) {
    message = fmt::format(
        "the state is at generation {}, not {} (the server was restarted with an older one); load "
        "it anew",
        current.generation, named.generation);
  } else {
    message = fmt::format(
        "the state is at generation {}, not {} (someone else changed it); send what changed or "
        "load it anew",
        current.generation, named.generation);
  }
  return tl::unexpected<Error>(Error{ErrorClass::kStale, std::move(message)});
}

tl::unexpected<Error> Closed() {
  return tl::unexpected(
      Error{ErrorClass::kNotFound, "state_name: the state was unloaded meanwhile; load it anew"});
}

tl::unexpected<Error> NoSuchNode(const std::string& name) {
  return tl::unexpected(
      Error{ErrorClass::kNotFound,
            fmt::format("node {}: the state has no node of this name", Excerpt(name))});
}

// Returns the checksum of what is beside the input.
std::uint64_t ChecksumOfBeside(const SharedConfiguration& configuration) {
  return configuration == nullptr ? 0 : ChecksumOf(configuration->configuration);
}

template <class Value>
void Copy(const std::vector<Value>& from, std::vector<Value>& to, const WorkBudget& budget) {
  to.reserve(from.size());
  for (auto value = from.begin(); value != from.end() && !budget.stopped(); ++value) {
    to.push_back(*value);
  }
}

// Returns false where the work is to stop.
bool CopyInput(const ClusterStateInput& from, ClusterStateInput& to, const WorkBudget& budget) {
  Copy(from.nodes, to.nodes, budget);
  Copy(from.topologies, to.topologies, budget);
  Copy(from.flavors, to.flavors, budget);
  Copy(from.non_tas_usage, to.non_tas_usage, budget);
  Copy(from.tas_usage, to.tas_usage, budget);
  to.share_usage_between_flavors = from.share_usage_between_flavors;
  return !budget.stopped();
}

}  // namespace

StateStore::StateStore(std::shared_ptr<HoldCounts> counts)
    : current_(Empty()),
      unloaded_(Empty()),
      hold_counts_(counts != nullptr ? std::move(counts) : std::make_shared<HoldCounts>()) {}

// Unloads a store whose change ends with an exception.
class StateStore::UnloadOnThrow {
 public:
  // `change_mutex_` of the store must be held as long as this lives.
  explicit UnloadOnThrow(StateStore& store) : store_(store) {}
  ~UnloadOnThrow() {
    if (std::uncaught_exceptions() > exceptions_) store_.Unload();
  }
  UnloadOnThrow(const UnloadOnThrow&) = delete;
  UnloadOnThrow& operator=(const UnloadOnThrow&) = delete;

 private:
  StateStore& store_;
  const int exceptions_ = std::uncaught_exceptions();
};

void StateStore::Unload() {
  if (input_ != nullptr) hold_counts_->CountEnd(HoldEnd::kDropped, input_->holds().size());
  input_ = nullptr;
  admitted_ = nullptr;
  configuration_ = nullptr;
  next_epoch_.reset();
  booked_ = {};
  not_shared_ = {};
  booked_memory_ = {};
  input_memory_ = {};
  const std::lock_guard lock(mutex_);
  if (unloaded_ != nullptr) current_ = std::exchange(unloaded_, nullptr);
}

std::shared_ptr<const PublishedState> StateStore::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Result<std::shared_ptr<const PublishedState>> StateStore::At(
    const std::optional<StatePosition>& position) const {
  std::shared_ptr<const PublishedState> current;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Closed();
    current = current_;
  }
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
  return Copied((*current)->position, budget);
}

Result<LoadedInput> StateStore::Copied(const StatePosition& position, WorkBudget& budget) {
  if (auto taken = TakeInBooked(budget); !taken) return tl::unexpected(taken.error());
  if (!budget.Charge(input_->bytes())) return tl::unexpected(budget.Check().error());
  LoadedInput loaded{position, {}, configuration_};
  for (const auto& [id, hold] : input_->holds()) loaded.holds.push_back(hold);
  if (!CopyInput(input_->input(), loaded.input, budget)) {
    return tl::unexpected(budget.Check().error());
  }
  return loaded;
}

Result<StateStore::Contents> StateStore::ContentsAt(const std::optional<StatePosition>& position,
                                                    WorkBudget& budget) {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(position);
  if (!current) return tl::unexpected(current.error());
  auto loaded = Copied((*current)->position, budget);
  if (!loaded) return tl::unexpected(loaded.error());
  Contents contents{*std::move(loaded), {}, {}};
  for (FlavorLeafUsage& entry : contents.loaded.input.tas_usage) {
    const Resources* theirs = input_->UsedByKey(entry.flavor, entry.leaf);
    if (theirs == nullptr) continue;
    AddTo(entry.usage, Times(*theirs, -1));
    entry.usage = WithoutZeros(entry.usage);
  }
  std::erase_if(contents.loaded.input.tas_usage,
                [](const FlavorLeafUsage& entry) { return entry.usage.empty(); });
  for (const AdmittedUsage* workload : (*current)->admitted->ByKey()) {
    const std::size_t bytes =
        sizeof(AdmittedUsage) + workload->usage.size() * sizeof(FlavorLeafUsage);
    if (!budget.Charge(static_cast<std::int64_t>(bytes))) {
      return tl::unexpected(budget.Check().error());
    }
    contents.workloads.push_back(*workload);
  }
  AdmittedUsage held;  // of nobody
  for (const auto& hold : contents.loaded.holds) {
    if (!budget.Charge(static_cast<std::int64_t>(hold->usage.size() * sizeof(FlavorLeafUsage)))) {
      return tl::unexpected(budget.Check().error());
    }
    held.usage.insert(held.usage.end(), hold->usage.begin(), hold->usage.end());
  }
  contents.held = InOrder(std::move(held)).usage;
  return contents;
}

Result<StateStore::Reading> StateStore::BeginReading(WorkBudget& budget) {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(std::nullopt);
  if (!current) return tl::unexpected(current.error());
  const auto checked = WithChecksum(budget);
  if (!checked) return tl::unexpected(checked.error());
  return Reading{
      (*current)->position, checked->checksum,     std::ssize(input_->holds()), admitted_,
      configuration_,       (*current)->published, input_->BeginReading()};
}

Result<bool> StateStore::ReadOn(Reading& reading, std::size_t most, ClusterStateInput& part) {
  const std::lock_guard lock(change_mutex_);
  std::optional<bool> more;
  if (input_ != nullptr && !closed_) more = input_->ReadOn(*reading.input, most, part);
  if (!more) return Stale(reading.position, Current()->position);
  return *more;
}

Result<ClusterStateInput> StateStore::FlavorsAt(const std::optional<StatePosition>& position) {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(position);
  if (!current) return tl::unexpected(current.error());
  ClusterStateInput flavors;
  flavors.topologies = input_->input().topologies;
  flavors.flavors = input_->input().flavors;
  return flavors;
}

void StateStore::Close() {
  const std::lock_guard change_lock(change_mutex_);
  if (input_ != nullptr && !closed_) {
    hold_counts_->CountEnd(HoldEnd::kDropped, input_->holds().size());
  }
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

Result<StatePosition> StateStore::Load(ClusterStateInput input, WorkBudget& budget,
                                       std::vector<AdmittedUsage> workloads,
                                       SharedConfiguration configuration,
                                       std::vector<LostHold>* dropped) {
  return LoadOr(nullptr, std::move(input), budget, std::move(workloads), std::move(configuration),
                dropped);
}

Result<StatePosition> StateStore::Restore(const Restored& restored, ClusterStateInput input,
                                          WorkBudget& budget, std::vector<AdmittedUsage> workloads,
                                          SharedConfiguration configuration) {
  return LoadOr(&restored, std::move(input), budget, std::move(workloads), std::move(configuration),
                nullptr);
}

Result<StatePosition> StateStore::LoadOr(const Restored* restored, ClusterStateInput input,
                                         WorkBudget& budget, std::vector<AdmittedUsage> workloads,
                                         SharedConfiguration configuration,
                                         std::vector<LostHold>* dropped) {
  auto loaded = std::make_unique<IndexedInput>(std::move(input));
  if (const auto added = loaded->Apply({.set_workloads = std::move(workloads)}); !added) {
    return tl::unexpected(added.error());
  }
  if (restored != nullptr && restored->checksum) {
    const std::uint64_t checksum = loaded->checksum() + ChecksumOfBeside(configuration);
    if (checksum != *restored->checksum) {
      return BadInput(fmt::format("the state has the checksum {:x} here, not {:x}", checksum,
                                  *restored->checksum));
    }
  }
  Result<ClusterState> built = ClusterState::Build(loaded->input(), budget);
  if (!built) return tl::unexpected(built.error());
  const std::lock_guard lock(change_mutex_);
  if (closed_) return Closed();
  std::vector<LostHold> lost;
  if (auto kept = KeepHolds(*loaded, *built, budget, lost); !kept) {
    return tl::unexpected(kept.error());
  }
  if (unloaded_ == nullptr) unloaded_ = Empty();
  const UnloadOnThrow unload(*this);
  std::swap(input_, loaded);
  booked_ = {};
  not_shared_ = {};
  booked_memory_ = {};
  admitted_ = input_->ShareWorkloads();
  configuration_ = std::move(configuration);
  input_memory_ = budget.HandOver(input_->bytes());
  NoteLost(lost, HoldEnd::kDropped, dropped);
  StatePosition position = NextPosition();
  if (restored != nullptr) {
    if (restored->last) next_epoch_ = position.epoch;
    position = {restored->last ? restored->position.epoch : position.epoch,
                restored->position.generation};
  }
  return PublishAt(position,
                   restored != nullptr ? restored->published : std::chrono::system_clock::now(),
                   *std::move(built), std::make_shared<ResolvedShapeCache>());
}

Result<StatePosition> StateStore::Update(const StatePosition& base, StateDelta delta,
                                         WorkBudget& budget,
                                         std::optional<SharedConfiguration> configuration,
                                         std::vector<LostHold>* broken) {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(base);
  if (!current) return tl::unexpected(current.error());
  return MakeChange(**current, std::move(delta), budget, std::move(configuration), broken);
}

Result<StatePosition> StateStore::MakeChange(const PublishedState& current, StateDelta delta,
                                             WorkBudget& budget,
                                             std::optional<SharedConfiguration> configuration,
                                             std::vector<LostHold>* broken) {
  const UnloadOnThrow unload(*this);
  std::vector<LostHold> lost = HoldsLostBy(delta, *input_);
  const auto ends = [&](const LostHold& hold) {
    return std::ranges::find(delta.set_holds, hold.id, &Hold::id) != delta.set_holds.end();
  };
  std::erase_if(lost, ends);
  for (const LostHold& hold : lost) delta.set_holds.emplace_back().id = hold.id;
  if (delta.set_workloads.empty() && delta.set_holds.empty()) {
    TakeInBooked(delta);
  } else {
    TakeInBooked();
  }
  Result<StateDelta> undo = input_->Apply(std::move(delta));
  if (!undo) return tl::unexpected(undo.error());
  budget.Charge(std::max(input_->bytes() - input_memory_.bytes(), std::int64_t{0}));
  Result<ClusterState> changed = Changed(*undo, budget);
  // Not everything on the way looks at the budget.
  if (const auto done = budget.Check(); changed && !done) changed = tl::unexpected(done.error());
  if (!changed) {
    input_->TakeBack(*std::move(undo));
    return tl::unexpected(changed.error());
  }
  HoldInput(budget);
  not_shared_ = {};
  if (configuration) configuration_ = *std::move(configuration);
  if (!undo->set_workloads.empty()) {
    admitted_ = input_->ShareWorkloads();
  }
  NoteLost(lost, HoldEnd::kBroken, broken);
  // Resolved shapes go on where the resources do.
  const bool same_resources = changed->IsBranchOf(current.state);
  return Publish(*std::move(changed),
                 same_resources ? current.shapes : std::make_shared<ResolvedShapeCache>());
}

Result<std::vector<Node>> StateStore::NodesAt(const StatePosition& position,
                                              const std::vector<std::string>& names) const {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(position);
  if (!current) return tl::unexpected(current.error());
  std::vector<Node> nodes;
  for (const std::string& name : names) {
    const Node* node = input_->FindNode(name);
    if (node == nullptr) return NoSuchNode(name);
    nodes.push_back(*node);
  }
  return nodes;
}

Result<ClusterState> StateStore::With(const StatePosition& position, ProposedChange change,
                                      WorkBudget& budget) {
  const std::lock_guard lock(change_mutex_);
  const auto current = At(position);
  if (!current) return tl::unexpected(current.error());
  auto delta = Resolved(std::move(change));
  if (!delta) return tl::unexpected(delta.error());
  const UnloadOnThrow unload(*this);
  Result<StateDelta> undo = input_->Apply(*std::move(delta));
  if (!undo) return tl::unexpected(undo.error());
  Result<ClusterState> changed = Changed(*undo, budget);
  input_->TakeBack(*std::move(undo));
  return changed;
}

Result<StateDelta> StateStore::Resolved(ProposedChange change) const {
  StateDelta delta = std::move(change.delta);
  for (const std::string& name : change.drained) {
    const Node* node = input_->FindNode(name);
    if (node == nullptr) return NoSuchNode(name);
    delta.upsert_nodes.push_back(*node);
    delta.upsert_nodes.back().unschedulable = true;
  }
  std::set<std::string_view> names;
  for (const Node& node : delta.upsert_nodes) {
    if (names.insert(node.name).second) continue;
    return BadInput(fmt::format("node {} changes twice; want each once", Excerpt(node.name)));
  }
  for (NodeUsage& sum : delta.set_non_tas_usage) {
    const Resources more = sum.usage;
    if (const NodeUsage* used = input_->FindNonTasUsage(sum.node)) {
      AddTo(sum.usage, used->usage);
      AddTo(sum.lasting, used->lasting);
    }
    for (const auto& [resource, amount] : more) {  // the rest may be below 0 as it was loaded
      if (amount >= 0 || *sum.usage.Find(resource) >= 0) continue;
      return BadInput(fmt::format(
          "node {}: {} {} is to be taken away, more than its pods of no topology-aware workload "
          "use",
          Excerpt(sum.node), SaturatingSubtract(0, amount), Excerpt(resource)));
    }
    sum.usage = WithoutZeros(sum.usage);
  }
  for (const LostHold& hold : HoldsLostBy(delta, *input_)) {
    delta.set_holds.emplace_back().id = hold.id;
  }
  return delta;
}

Result<ClusterState> StateStore::Changed(const StateDelta& undo, WorkBudget& budget) {
  const ClusterState& current = Current()->state;
  if (undo.ChangesFlavors()) return BuildAnew(budget);
  StateChange change = input_->ChangeFrom(undo);
  if (current.MovesLeaves(change)) {
    TakeInBooked();  // it is noted by leaf
    change = input_->ChangeFrom(undo);
  }
  Result<ClusterState> changed =
      current.CanApply(change) ? current.Branch(budget) : BuildAnew(budget);
  if (!changed) return changed;
  if (changed->IsBranchOf(current)) {
    changed->ShareUsage(BookedAmounts(not_shared_).TakeAll(current));
    const auto applied =
        changed->Apply(change, input_->input().share_usage_between_flavors, budget);
    if (!applied) return tl::unexpected(applied.error());
  }
  return changed;
}

Result<ClusterState> StateStore::BuildAnew(WorkBudget& budget) {
  TakeInBooked();
  return ClusterState::Build(input_->input(), budget);
}

Result<StateStore::Checked> StateStore::CurrentChecked(WorkBudget& budget) {
  const std::lock_guard lock(change_mutex_);
  return WithChecksum(budget);
}

Result<std::optional<StateStore::Checked>> StateStore::TryCurrentChecked(WorkBudget& budget) {
  const std::unique_lock lock(change_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return std::nullopt;
  return WithChecksum(budget);
}

Result<StateStore::Checked> StateStore::WithChecksum(WorkBudget& budget) {
  if (input_ == nullptr) return Checked{Current(), 0};
  if (auto taken = TakeInBooked(budget); !taken) return tl::unexpected(taken.error());
  return Checked{Current(), input_->checksum() + ChecksumOfBeside(configuration_)};
}

Result<void> StateStore::TakeInBooked(WorkBudget& budget) {
  const UnloadOnThrow unload(*this);
  TakeInBooked();
  budget.Charge(std::max(input_->bytes() - input_memory_.bytes(), std::int64_t{0}));
  HoldInput(budget);
  return budget.Check();
}

void StateStore::TakeInBooked() { input_->AddTasUsage(booked_.TakeAll(Current()->state)); }

void StateStore::TakeInBooked(const StateDelta& delta) {
  const std::shared_ptr<const PublishedState> current = Current();
  for (const FlavorLeafUsage& set : delta.set_tas_usage) {
    Resources usage = booked_.Take(current->state, set.flavor, set.leaf);
    if (!usage.empty()) input_->AddTasUsage({{set.flavor, set.leaf, std::move(usage)}});
  }
}

Result<StatePosition> StateStore::Book(const StatePosition& base, ClusterState booked,
                                       WorkBudget& budget) {
  const std::lock_guard lock(change_mutex_);
  const UnloadOnThrow unload(*this);
  const auto current = At(base);
  if (!current) return tl::unexpected(current.error());
  const std::int64_t grown = 2 * BookedAmounts::MostBytes(booked) - booked_memory_.bytes();
  if (grown > 0) budget.Charge(grown);
  if (auto done = budget.Check(); !done) return tl::unexpected(done.error());
  if (grown > 0) booked_memory_.Add(budget.HandOver(grown));
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

StatePosition StateStore::NextPosition() {
  StatePosition next = Next(Current()->position);
  if (next_epoch_) next.epoch = *std::exchange(next_epoch_, std::nullopt);
  return next;
}

StatePosition StateStore::Publish(ClusterState state, std::shared_ptr<ResolvedShapeCache> shapes) {
  return PublishAt(NextPosition(), std::chrono::system_clock::now(), std::move(state),
                   std::move(shapes));
}

StatePosition StateStore::PublishAt(const StatePosition& next,
                                    std::chrono::system_clock::time_point published,
                                    ClusterState state,
                                    std::shared_ptr<ResolvedShapeCache> shapes) {
  auto snapshot = std::make_shared<const PublishedState>(PublishedState{
      next, std::move(state), static_cast<std::int64_t>(input_->input().nodes.size()), published,
      std::move(shapes), input_->input().share_usage_between_flavors, admitted_, configuration_,
      std::ssize(input_->holds())});
  const std::lock_guard lock(mutex_);
  current_.swap(snapshot);  // the old one is freed after the lock, or by its last reader
  return next;
}

}  // namespace espalier
