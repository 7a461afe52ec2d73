// Joins a Workload of the gang API whose replicas are gangs with their pods, replica by replica.
#pragma once

#include <cstdint>
#include <vector>

#include "host/readers/sources/gang_api_source.hpp"
#include "host/readers/sources/part_members.hpp"

namespace espalier {

// Makes the counts of a Workload of ReplicatedGangs those of one replica of `size` pods. A user may
// count the pods of all replicas: then the pods of its equivalence groups, or of its gang group,
// are a multiple of `size`, and of as many replicas as there are where that is known. Adds a note
// where it did so, and where the counts are neither. Leaves other Workloads as they are.
void CountPerReplica(GangWorkload& workload, std::int64_t size);

// Joins a Workload with its pods, as JoinPods does. Where its replicas are gangs, pods with the
// same replica key are one: the key that they name beside the Workload, or else their label that
// the Workload names as replicaKey, or else the group key of a LeaderWorkerSet. Returns one
// workload as long as all replicas are alike, else one for each replica, named WORKLOAD-KEY with
// the index of the replica in place of the key where pods have it as a label; where the Workload
// asks for a topology of all its replicas, each is a gang of one workload, of that name.
std::vector<GangWorkload> JoinReplicas(GangApiWorkload user, Members& members);

}  // namespace espalier
