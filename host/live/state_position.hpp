// The cluster state that an answer was computed on.
#pragma once

#include <cstdint>

namespace espalier {

struct StatePosition {
  // Identifies one start of a server, which may begin with a state of the start before; never 0.
  std::uint64_t epoch = 0;
  std::uint64_t generation = 0;  // 0: nothing loaded yet
  bool operator==(const StatePosition&) const = default;
};

// Returns the position that follows a change to the state at `position`.
inline StatePosition Next(const StatePosition& position) {
  return {position.epoch, position.generation + 1};
}

}  // namespace espalier
