// Joins a user's Workload of the gang API with the object and the pods that it describes.
#pragma once

#include <string>

#include "host/readers/sources/gang_api_source.hpp"
#include "host/readers/sources/part_members.hpp"

namespace espalier {

// Fills in what the user's Workload leaves open from the default workload of the object it
// describes: shapes of pods, replicas, queue and priority.
void AdoptDefaults(GangWorkload& user, const GangWorkload& by_default);

// Takes queue and priority, where the Workload has none, from the pods that name it: of the first
// part the oldest pod, whose owner goes before it with its queue.
void TakeQueueAndPriority(const Members& members, const SourceContext& context, Workload& head);

// Removes the pods that name the Workload from `members` and gives each to its part, by the part it
// names or by its labels. Notes how many match no part or several.
void JoinPods(GangApiWorkload& user, Members& members);

}  // namespace espalier
