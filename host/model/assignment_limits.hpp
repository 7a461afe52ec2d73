// Limits of stored topology assignments, which every reader enforces (R19.9).
#pragma once

#include <cstddef>

namespace espalier {

inline constexpr std::size_t kMaxAssignmentLevels = 16;
inline constexpr std::size_t kMaxAssignmentDomains = 1'000'000;

}  // namespace espalier
