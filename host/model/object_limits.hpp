// Limits of Kubernetes objects, held by all that read them.
#pragma once

#include <cstddef>

namespace espalier {

// Entries of a map, such as labels or allocatable resources. An object that fits a cluster's
// storage, 1.5 MiB, has fewer.
inline constexpr std::size_t kMaxMapEntries = 250'000;

}  // namespace espalier
