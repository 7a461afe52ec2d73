#include "fallback_cpu/counts_cache.hpp"

#include <functional>

namespace espalier {

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
  const auto domains = static_cast<std::size_t>(job.state->snapshot().domain_count());
  const std::size_t arrays = job.query.leaders > 0 ? 4 : 2;
  const std::size_t bytes = domains * arrays * sizeof(StoredCount) + 256;
  while (!slots_.empty() && bytes_ + bytes > max_bytes_) {
    bytes_ -= slots_.back().bytes;
    by_key_.erase(slots_.back().key);
    slots_.pop_back();
  }
  slots_.push_front({key, job.shape, std::make_shared<Entry>(), bytes});
  bytes_ += bytes;
  by_key_.emplace(key, slots_.begin());
  return slots_.front().entry;
}

}  // namespace espalier
