#include "host/engine/resolved_shape_cache.hpp"

#include <utility>

namespace espalier {

std::shared_ptr<const ResolvedGangShape> ResolvedShapeCache::Find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto* shape = shapes_.Find(key);
  return shape == nullptr ? nullptr : *shape;
}

std::size_t ResolvedShapeCache::size() const {
  const std::lock_guard lock(mutex_);
  return shapes_.size();
}

void ResolvedShapeCache::Keep(std::string key, std::shared_ptr<const ResolvedGangShape> shape) {
  if (key.size() > kMostBytes) return;
  const std::lock_guard lock(mutex_);
  const std::size_t bytes = key.size();
  shapes_.Put(std::move(key), std::move(shape), bytes);
}

}  // namespace espalier
