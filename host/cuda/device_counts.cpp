#include "host/cuda/device_counts.hpp"

#include <algorithm>
#include <utility>

#include "host/engine/leaf_input.hpp"
#include "kernels/decisions/level_index.hpp"

namespace espalier {
namespace {

// Packs a shape and the arrays that belong to it; returns where it is.
const ResidentShape* Pack(const PlacementJob& job, const CountsView& counts, bool leaves_stored,
                          CapacityView capacity, const FilterArrays& arrays, Packer& packer) {
  FlatAssumed assumed;
  assumed.Set(job.assumed);
  ResidentShape shape;
  shape.input = MakeLeafInput(job, assumed, [&](const auto& items) { return packer.Add(items); });
  shape.input.capacity = capacity;
  shape.input.matches = arrays.matches;
  shape.slice = job.query.slice;
  shape.counts = counts;
  shape.counts.affinity = arrays.affinity;
  shape.leaves_stored = leaves_stored;
  return packer.Add(&shape, 1);
}

}  // namespace

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

void DeviceCounts::LayOutDescription(const PlacementJob& job, Packer& packer) {
  Packer measure;
  Pack(job, view, leaves_stored, {}, {}, measure);
  description_bytes = measure.size();
  description = packer.Leave<std::byte>(description_bytes);
  Packer home(description, nullptr);
  resident = Pack(job, view, leaves_stored, {}, {}, home);
}

DeviceResult<void> DeviceCounts::Allocate(const PlacementJob& job) {
  return Arrange(memory, [&](Packer& packer) {
    LayOut(job, /*indexed=*/true, packer);
    LayOutDescription(job, packer);
  });
}

MovingShape DeviceCounts::PackDescription(const PlacementJob& job, CapacityView capacity,
                                          const FilterArrays& arrays, Packer& packer) const {
  const std::byte* here = nullptr;
  Packer moving = packer.AddMoving(description, description_bytes, here);
  Pack(job, view, leaves_stored, capacity, arrays, moving);
  return {reinterpret_cast<std::uint64_t*>(description),
          reinterpret_cast<const std::uint64_t*>(here),
          static_cast<std::int64_t>(description_bytes / sizeof(std::uint64_t))};
}

bool SharesCounts(const PlacementJob& job) { return job.assumed.empty() && !IsPartial(job); }

DeviceResult<std::shared_ptr<DeviceCounts>> DeviceCountsCache::Get(const PlacementJob& job) {
  const CountsKey key = CountsKey::Of(job);
  const bool shared = SharesCounts(job);
  if (shared) {
    const Slot* known = slots_.Find(key);
    if (known == nullptr) {
      NoteState(*job.state);
      known = TakeOver(key, job);
    }
    if (known != nullptr && known->counts->Suffice(job)) {
      Use(*known->counts);
      return known->counts;
    }
  }
  auto counts = std::make_shared<DeviceCounts>(*device_, job);
  Packer measure;
  counts->LayOut(job, /*indexed=*/true, measure);
  counts->LayOutDescription(job, measure);
  if (!MakeRoom(measure.size())) return std::shared_ptr<DeviceCounts>();
  if (auto done = counts->Allocate(job); !done) return tl::unexpected(done.error());
  Use(*counts);
  if (!shared) {
    Hold(counts);
    return counts;
  }
  // In place of those that lack leaves.
  if (const Slot* known = slots_.Peek(key); known != nullptr && known->counts->wave == wave_) {
    Hold(known->counts);
  }
  slots_.Put(key, {job.state->SharedStamps(), counts, wave_}, counts->memory.size());
  return counts;
}

void DeviceCountsCache::EndWave() {
  ++wave_;
  held_.clear();
  held_bytes_ = 0;
}

void DeviceCountsCache::Hold(std::shared_ptr<DeviceCounts> counts) {
  held_bytes_ += counts->memory.size();
  held_.push_back(std::move(counts));
}

// Drops the least recently used counts until there is room for so many bytes; returns false where
// the wave uses all that is left. The first counts of a wave always have room.
bool DeviceCountsCache::MakeRoom(std::size_t bytes) {
  // Those that were used since they got their place get another one first.
  std::size_t looks = 2 * slots_.size();
  while (slots_.bytes() + held_bytes_ + bytes > max_bytes_) {
    auto* oldest = slots_.Oldest();
    if (oldest == nullptr) return held_.empty();
    if (looks-- == 0) return false;
    Slot& slot = oldest->value;
    const CountsKey key = oldest->key;
    if (slot.counts->wave == wave_ || slot.counts->wave != slot.placed_in) {
      slot.placed_in = slot.counts->wave;
      slots_.Find(key);
    } else {
      slots_.Drop(key);
    }
  }
  return true;
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
DeviceCountsCache::Slot* DeviceCountsCache::TakeOver(const CountsKey& key,
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
