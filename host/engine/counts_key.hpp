// Identifies the counts that jobs share, for caches of every back end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "host/engine/backend.hpp"

namespace espalier {

// The inputs that counts depend on; jobs with equal keys may share them.
struct CountsKey {
  std::uint64_t state = 0;          // FlavorState::identity
  const PodShape* shape = nullptr;  // null: counts of no shape
  bool simulate_empty = false;
  bool operator==(const CountsKey&) const = default;

  static CountsKey Of(const PlacementJob& job) {
    return {job.state->identity(), job.shape.get(), job.simulate_empty};
  }

  struct Hash {
    std::size_t operator()(const CountsKey& key) const {
      const std::size_t of_shape = std::hash<const void*>{}(key.shape);
      return of_shape ^ (std::hash<std::uint64_t>{}(key.state) * 0x9e3779b97f4a7c15ULL) ^
             static_cast<std::size_t>(key.simulate_empty);
    }
  };
};

}  // namespace espalier
