#include "fallback_cpu/counts_cache.hpp"

#include <functional>

namespace espalier {
namespace {

// What an entry may come to hold: sums above the leaves and what rules leaves out, or every leaf's
// counts as well.
std::size_t MostBytes(const PlacementJob& job) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  const auto leaves = static_cast<std::size_t>(snapshot.leaf_count());
  const auto domains = static_cast<std::size_t>(snapshot.domain_count());
  const std::size_t arrays = job.query.leaders > 0 ? 4 : 2;
  const std::size_t counted = ShapeCounts::NeedsLeaves(job) ? domains : domains - leaves;
  return counted * arrays * sizeof(StoredCount) +
         leaves / TiledCapacity::kTileLeaves * (job.shape->workers.names.size() + 8) + 1024;
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
  if (const auto it = by_key_.find(key); it != by_key_.end()) {
    slots_.splice(slots_.begin(), slots_, it->second);
    return it->second->entry;
  }
  const std::size_t bytes = MostBytes(job);
  std::shared_ptr<Entry> entry = TakeFromTheDead();
  while (!slots_.empty() && bytes_ + bytes > max_bytes_) DropOldest();
  if (entry == nullptr) entry = std::make_shared<Entry>();
  slots_.push_front({key, job.shape, job.state->lifetime(), entry, bytes});
  bytes_ += bytes;
  by_key_.emplace(key, slots_.begin());
  return entry;
}

void CountsCache::DropOldest() {
  bytes_ -= slots_.back().bytes;
  by_key_.erase(slots_.back().key);
  slots_.pop_back();
}

// The memory of the oldest entry, when its state is gone and nobody holds it.
std::shared_ptr<CountsCache::Entry> CountsCache::TakeFromTheDead() {
  if (slots_.empty() || !slots_.back().state.expired() || slots_.back().entry.use_count() > 1) {
    return nullptr;
  }
  std::shared_ptr<Entry> entry = std::move(slots_.back().entry);
  DropOldest();
  entry->counts.Forget();
  return entry;
}

}  // namespace espalier
