// Which cluster state something was computed on.
#pragma once

#include <cstdint>

namespace espalier {

struct StatePosition {
  std::uint64_t epoch = 0;       // of one start of a server; never 0 in one
  std::uint64_t generation = 0;  // 0: nothing loaded yet
  bool operator==(const StatePosition&) const = default;
};

}  // namespace espalier
