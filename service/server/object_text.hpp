// Reads the Kubernetes objects that a field of a request holds as text.
#pragma once

#include <string>

#include "host/readers/cluster_files.hpp"

namespace espalier {

// Reads `text`, which may unpack to eight times its bytes and 1 MiB, by `options` but for its
// limits. `field` names it in messages. Errors: kBadInput for what cannot be read, kExhausted for
// what unpacks to more, and why `budget` was stopped, which is charged for all that is read.
Result<ClusterRead> ReadObjectText(const std::string& field, const std::string& text,
                                   ReadOptions options, WorkBudget& budget);

}  // namespace espalier
