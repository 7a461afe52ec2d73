#include "host/engine/resolved_shape_cache.hpp"

#include <utility>

namespace espalier {

std::shared_ptr<const ResolvedGangShape> ResolvedShapeCache::Find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = shapes_.find(key);
  return it == shapes_.end() ? nullptr : it->second;
}

std::size_t ResolvedShapeCache::size() const {
  const std::lock_guard lock(mutex_);
  return shapes_.size();
}

void ResolvedShapeCache::Keep(std::string key, std::shared_ptr<const ResolvedGangShape> shape) {
  if (key.size() > kMostBytes) return;
  const std::lock_guard lock(mutex_);
  if (shapes_.size() == kMostShapes || bytes_ + key.size() > kMostBytes) {
    shapes_.clear();
    bytes_ = 0;
  }
  const std::size_t bytes = key.size();
  if (shapes_.emplace(std::move(key), std::move(shape)).second) bytes_ += bytes;
}

}  // namespace espalier
