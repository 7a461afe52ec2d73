// Adds slices per replica to the workload that they belong to (KEP-77, W5.7).
#pragma once

#include <cstdint>
#include <string>

#include "host/model/workload.hpp"

namespace espalier {

// Adds a slice's admission to its parent's counts, usage and assignment, and records the slice in
// the parent by its uid or, before it has one, by its name, so that folding it again changes
// nothing.
void FoldSlice(const Workload& slice, Workload& parent);

// Returns the prefix of the names of the workload's slices per replica; a number follows it.
std::string ReplicaPrefix(const Workload& parent);

// Returns the first number that no folded slice has in its name. Names are not reused, as a name
// identifies a slice that has no uid yet.
std::int64_t NextReplicaNumber(const Workload& parent);

}  // namespace espalier
