// Finds what is used and counts as nothing, because it is not known where.
#pragma once

#include <string>
#include <vector>

#include "host/model/cluster.hpp"

namespace espalier {

// Returns a sentence for each workload whose usage, or a part of it, is on no leaf of the state
// that is built of the cluster, in the order of the workloads: its assignment has no place for some
// of its pods, or names a domain that no node is in; or it has finished, or holds no quota, and
// pods of it are on nodes all the same, which its assignment accounted for. Domains are not looked
// at in a cluster without nodes.
std::vector<std::string> UnmappedUsage(const Cluster& cluster);

}  // namespace espalier
