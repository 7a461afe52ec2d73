// Finds what a Ray object wants by now in the RayCluster that Ray changes.
#pragma once

#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/readers/object_index.hpp"
#include "host/readers/sources/owners.hpp"

namespace espalier {

// Returns whether Ray itself changes the number of the object's workers, which KEP-77 opts in by.
bool Autoscales(const SourceObject& source_object);

// Adds the annotation that opts a job in to changing its size (W5.1), unless it says itself.
void MarkElastic(Workload& head);

// Returns the RayCluster that a RayJob or RayService made: the one that its status names, else the
// youngest that stays. Null for another kind, and where there is none.
const SourceObject* RayClusterOf(const SourceObject& job,
                                 const std::vector<SourceObject>& source_objects,
                                 const OwnerIndex& owners);

// Takes over the counts that `now` has for pods of the same name.
void TakeCounts(const GangWorkload& now, GangWorkload& job);

}  // namespace espalier
