#include "fallback_cpu/counts_cache.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace espalier {
namespace {

// States whose entries another branch may take over.
constexpr std::size_t kMaxStates = 8;
// Where more than this part of the blocks differ, counting all of them is sooner.
constexpr std::size_t kWorthGoingOn = 4;

// What an entry may come to hold: sums above the leaves and what rules leaves out, or every leaf's
// counts as well.
std::size_t MostBytes(const PlacementJob& job) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const auto leaves = static_cast<std::size_t>(snapshot.leaf_count());
  const auto domains = static_cast<std::size_t>(snapshot.domain_count());
  const std::size_t arrays = job.query.leaders > 0 ? 4 : 2;
  const std::size_t counted = ShapeCounts::NeedsLeaves(job) ? domains : domains - leaves;
  return counted * arrays * sizeof(StoredCount) + leaves + 1024;
}

std::shared_ptr<const BlockStamps> StampsOf(const PlacementJob& job) {
  return job.simulate_empty ? job.state->free_stamps() : job.state->SharedStamps();
}

}  // namespace

std::size_t CountsCache::KeyHash::operator()(const Key& key) const {
  const std::size_t shape = std::hash<const void*>{}(key.shape);
  return shape ^ (std::hash<std::uint64_t>{}(key.state) * 0x9e3779b97f4a7c15ULL) ^
         static_cast<std::size_t>(key.simulate_empty);
}

std::shared_ptr<CountsCache::Entry> CountsCache::Get(const PlacementJob& job) {
  const Key key{job.state->identity(), job.shape.get(), job.simulate_empty};
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key) || TakeOver(key, job)) {
    const auto slot = by_key_.at(key);
    slots_.splice(slots_.begin(), slots_, slot);
    slot->counted = StampsOf(job);
    return slot->entry;
  }
  const std::size_t bytes = MostBytes(job);
  std::shared_ptr<Entry> entry = TakeFromTheDead();
  while (!slots_.empty() && bytes_ + bytes > max_bytes_) DropOldest();
  if (entry == nullptr) entry = std::make_shared<Entry>();
  slots_.push_front({key, job.shape, job.state->SharedStamps(), StampsOf(job), entry, bytes});
  bytes_ += bytes;
  by_key_.emplace(key, slots_.begin());
  return entry;
}

// Makes the entry of a state that is gone that of another branch.
bool CountsCache::TakeOver(const Key& key, const PlacementJob& job) {
  if (std::ranges::find(states_, key.state, &State::identity) == states_.end()) {
    states_.push_front({key.state, job.state->SharedStamps()});
  }
  if (states_.size() > kMaxStates) states_.pop_back();
  const std::shared_ptr<const BlockStamps> now = StampsOf(job);
  for (const State& other : states_) {
    if (!other.stamps->frozen()) continue;
    const auto known = by_key_.find({other.identity, key.shape, key.simulate_empty});
    if (known == by_key_.end()) continue;
    const auto slot = known->second;
    std::size_t differ = 0;
    now->ForEachDifference(*slot->counted, slot->counted->latest(),
                           [&](std::size_t /*block*/) { ++differ; });
    if (differ * kWorthGoingOn > now->of_block().size()) continue;
    const std::unique_lock lock(slot->entry->mutex, std::try_to_lock);
    if (!lock) continue;
    slot->entry->counts.GoOnFrom(*slot->counted, *now);
    slot->key = key;
    slot->stamps = job.state->SharedStamps();
    by_key_.erase(known);
    by_key_.emplace(key, slot);
    return true;
  }
  return false;
}

void CountsCache::DropOldest() {
  bytes_ -= slots_.back().bytes;
  by_key_.erase(slots_.back().key);
  slots_.pop_back();
}

// The memory of the oldest entry, when its state is gone and nobody holds it.
std::shared_ptr<CountsCache::Entry> CountsCache::TakeFromTheDead() {
  if (slots_.empty() || !slots_.back().stamps->frozen() || slots_.back().entry.use_count() > 1) {
    return nullptr;
  }
  std::shared_ptr<Entry> entry = std::move(slots_.back().entry);
  DropOldest();
  entry->counts.Forget();
  return entry;
}

}  // namespace espalier
