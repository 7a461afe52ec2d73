#include "host/cuda/device_counts.hpp"

#include <algorithm>
#include <utility>

#include "kernels/decisions/level_index.hpp"

namespace espalier {
CountsView LayOutCounts(std::size_t domains, bool slices, bool leader, Packer& packer) {
  CountsView counts;
  counts.pods = packer.Leave<StoredCount>(domains);
  counts.slices = slices ? packer.Leave<StoredCount>(domains) : counts.pods;
  counts.pods_with_leader = leader ? packer.Leave<StoredCount>(domains) : counts.pods;
  counts.slices_with_leader = !leader  ? counts.slices
                              : slices ? packer.Leave<StoredCount>(domains)
                                       : counts.pods_with_leader;
  counts.leaders = leader ? packer.Leave<std::uint8_t>(domains) : nullptr;
  return counts;
}

void DeviceCounts::LayOut(const PlacementJob& job, bool indexed, Packer& packer) {
  const std::int32_t lowest = job.state->snapshot().tree().lowest();
  view = LayOutCounts(static_cast<std::size_t>(leaves_stored ? domains : domains - leaves),
                      !job.shape->slice.IsOnePod(lowest), job.query.leaders > 0, packer);
  if (indexed && view.leaders == nullptr) {
    view.index = packer.Leave<LevelIndex>(static_cast<std::size_t>(lowest));
  }
}

DeviceResult<void> DeviceCounts::Allocate(const PlacementJob& job) {
  return Arrange(memory, [&](Packer& packer) { LayOut(job, /*indexed=*/true, packer); });
}

bool SharesCounts(const PlacementJob& job) { return job.assumed.empty() && !IsPartial(job); }

DeviceResult<std::shared_ptr<DeviceCounts>> DeviceCountsCache::Get(const PlacementJob& job) {
  const CountsKey key = CountsKey::Of(job);
  const bool shared = SharesCounts(job);
  if (shared) {
    const Slot* known = slots_.Find(key);
    if (known != nullptr && known->counts->Suffice(job)) return known->counts;
    NoteState(*job.state);
    if (known == nullptr) known = TakeOver(key, job);
    if (known != nullptr && known->counts->Suffice(job)) return known->counts;
  }
  auto counts = std::make_shared<DeviceCounts>(*device_, job);
  if (shared) {
    Packer measure;
    counts->LayOut(job, /*indexed=*/true, measure);
    slots_.MakeRoom(measure.size());
  }
  if (auto done = counts->Allocate(job); !done) return tl::unexpected(done.error());
  if (shared) slots_.Put(key, {job.state->SharedStamps(), counts}, counts->memory.size());
  return counts;
}

void DeviceCountsCache::NoteState(const FlavorState& state) {
  const std::uint64_t identity = state.identity();
  if (!states_.empty() && states_.front().identity == identity) return;
  states_.remove_if([&](const State& known) { return known.identity == identity; });
  states_.push_front({identity, state.SharedStamps()});
  if (states_.size() <= kMaxStates) return;
  states_.pop_back();
  slots_.DropIf([&](const auto& entry) {
    return entry.value.stamps->frozen() &&
           std::ranges::find(states_, entry.key.state, &State::identity) == states_.end();
  });
}

// Makes the counts of a state that is gone those of another branch, in which the groups of leaves
// differ that have other stamps; null: there are none.
const DeviceCountsCache::Slot* DeviceCountsCache::TakeOver(const CountsKey& key,
                                                           const PlacementJob& job) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const auto serves = [&](const DeviceCounts& counts) {
    // Leaves may have come or gone.
    if (counts.domains != snapshot.domain_count() || counts.leaves != snapshot.leaf_count()) {
      return false;
    }
    if (counts.counted_on.get() == &StampsOf(job)) return true;
    return !job.simulate_empty && counts.counted_on != nullptr && counts.counted_on->frozen() &&
           counts.counted_on->of_group().size() == job.state->stamps().of_group().size();
  };
  for (const State& other : states_) {
    if (!other.stamps->frozen()) continue;
    const CountsKey of_other{other.identity, key.shape, key.simulate_empty};
    const Slot* known = slots_.Peek(of_other);
    if (known == nullptr || !serves(*known->counts)) continue;
    Slot* slot = slots_.ChangeKey(of_other, key);
    slot->stamps = job.state->SharedStamps();
    return slot;
  }
  return nullptr;
}

}  // namespace espalier
