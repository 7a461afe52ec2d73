// Takes gangs whose pods run for admitted workloads.
#pragma once

#include <span>

#include "host/gangs/gang_workload.hpp"
#include "host/gangs/placement_units.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// Adds an admitted workload to the cluster for each unit that running pods of the gangs are, so
// that they can be moved as Kueue's Workloads are: all pods that run, and no others, need a place,
// in the same domains together (W1.6). What the pods use becomes usage of these workloads. One
// takes the place of a workload of its key that waits, the rest of its gang. It is on a flavor of
// its queue that has all its nodes, else on any that has them; one whose nodes are on none is
// refused, and its pods stay those of nobody. Gangs of pods that an admitted Workload stands for
// are left out. `trees`: which gang workloads are placed as trees.
void AdmitRunningGangs(std::span<const GangWorkload> gangs, Trees trees, Cluster& cluster);

}  // namespace espalier
