#include "fallback_cpu/counts_cache.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace espalier {
namespace {

// States whose entries another branch may take over.
constexpr std::size_t kMaxStates = 8;

// Returns the most bytes that an entry may come to hold: sums above the leaves and exclusion
// reasons, or every leaf's counts as well.
std::size_t MostBytes(const PlacementJob& job) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const auto leaves = static_cast<std::size_t>(snapshot.leaf_count());
  const auto domains = static_cast<std::size_t>(snapshot.domain_count());
  const std::size_t arrays = job.query.leaders > 0 ? 4 : 2;
  const std::size_t counted = ShapeCounts::NeedsLeaves(job) ? domains : domains - leaves;
  return counted * arrays * sizeof(StoredCount) + leaves + 1024;
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
    slot->counted = SharedStampsOf(job);
    return slot->entry;
  }
  const std::size_t bytes = MostBytes(job);
  std::shared_ptr<Entry> entry = RecycleExpired();
  while (!slots_.empty() && bytes_ + bytes > max_bytes_) DropOldest();
  if (entry == nullptr) entry = std::make_shared<Entry>();
  std::list<Slot> slot;  // of its own until nothing can fail any more
  slot.push_front({key, job.shape, job.state->SharedStamps(), SharedStampsOf(job), entry, bytes});
  by_key_.emplace(key, slot.begin());
  slots_.splice(slots_.begin(), slot);
  bytes_ += bytes;
  return entry;
}

// Makes the entry of a state that is gone that of another branch.
bool CountsCache::TakeOver(const Key& key, const PlacementJob& job) {
  if (std::ranges::find(states_, key.state, &State::identity) == states_.end()) {
    states_.push_front({key.state, job.state->SharedStamps()});
  }
  if (states_.size() > kMaxStates) states_.pop_back();
  const std::shared_ptr<const GroupStamps> now = SharedStampsOf(job);
  for (const State& other : states_) {
    if (!other.stamps->frozen()) continue;
    const auto known = by_key_.find({other.identity, key.shape, key.simulate_empty});
    if (known == by_key_.end()) continue;
    const auto slot = known->second;
    const std::unique_lock lock(slot->entry->mutex, std::try_to_lock);
    if (!lock || !slot->entry->counts.RebaseOnto(*slot->counted, *now)) continue;
    slot->key = key;
    slot->stamps = job.state->SharedStamps();
    auto node = by_key_.extract(known);
    node.key() = key;
    by_key_.insert(std::move(node));
    return true;
  }
  return false;
}

void CountsCache::DropOldest() {
  bytes_ -= slots_.back().bytes;
  by_key_.erase(slots_.back().key);
  slots_.pop_back();
}

// Returns the oldest entry, for its memory, when its state is gone and nobody holds it.
std::shared_ptr<CountsCache::Entry> CountsCache::RecycleExpired() {
  if (slots_.empty() || !slots_.back().stamps->frozen() || slots_.back().entry.use_count() > 1) {
    return nullptr;
  }
  std::shared_ptr<Entry> entry = std::move(slots_.back().entry);
  DropOldest();
  entry->counts.Forget();
  return entry;
}

}  // namespace espalier
