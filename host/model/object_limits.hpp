// Limits of Kubernetes objects, which every reader enforces.
#pragma once

#include <cstddef>

namespace espalier {

// Maximum entries of a map, such as labels or allocatable resources. An object that fits a
// cluster's storage, 1.5 MiB, has fewer.
inline constexpr std::size_t kMaxMapEntries = 250'000;

// Maximum number of distinct resources that one pod requests. With the pod slot they are numbered
// in 16 bits in the exclusion reasons of leaves.
inline constexpr std::size_t kMaxRequestedResources = 32'766;

}  // namespace espalier
