// Caches resolved shapes of gangs by their canonical key, as controllers ask about the same few
// shapes again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

#include "host/engine/gang_batch.hpp"
#include "host/model/lru_by_bytes.hpp"
#include "host/packing/flavor_snapshot.hpp"

namespace espalier {

// A cache that is valid for a state and all branches of it, whatever was changed there. Bounded in
// shapes and in bytes of keys. Thread-safe.
class ResolvedShapeCache {
 public:
  static constexpr std::size_t kMostShapes = FlavorSnapshot::kMostCachedEntries;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  // Returns the shape with this canonical key, or null when it is not cached.
  std::shared_ptr<const ResolvedGangShape> Find(const std::string& key);
  // Returns the number of shapes.
  std::size_t size() const;
  // Adds a shape; does nothing when its key alone exceeds the maximum of bytes.
  void Keep(std::string key, std::shared_ptr<const ResolvedGangShape> shape);

 private:
  mutable std::mutex mutex_;  // guards all below
  LruByBytes<std::string, std::shared_ptr<const ResolvedGangShape>> shapes_{kMostBytes,
                                                                            kMostShapes};
};

}  // namespace espalier
