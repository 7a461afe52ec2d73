// Which cluster state something was computed on.
#pragma once

#include <cstdint>

namespace espalier {

struct StatePosition {
  std::uint64_t epoch = 0;       // of one start of a server; never 0 in one
  std::uint64_t generation = 0;  // 0: nothing loaded yet
  bool operator==(const StatePosition&) const = default;
};

// Returns the position that a change to the state at `position` leads to.
inline StatePosition Next(const StatePosition& position) {
  return {position.epoch, position.generation + 1};
}

}  // namespace espalier
