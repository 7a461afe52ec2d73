// Tells times as messages hold them.
#pragma once

#include <chrono>
#include <cstdint>

namespace espalier {

// Returns a time as Unix milliseconds.
inline std::int64_t UnixMilliseconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace espalier
