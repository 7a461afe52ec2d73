// Says what a row of an answer costs in memory.
#pragma once

#include <cstdint>

namespace espalier {

// Bytes that a row of an answer takes besides its texts.
inline constexpr std::int64_t kBytesOfRow = 64;

}  // namespace espalier
