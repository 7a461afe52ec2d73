// Reads what KAI's labels and annotations say of the pods of an object: their queue, priority,
// topology and segments.
#pragma once

#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/readers/sources/part_members.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Takes the queue of the first of the objects that names one.
void TakeQueue(const std::vector<JsonValue>& chain, Workload& head);

// Takes the queue from members of a group inside another one, where the outer one has none.
void TakeQueueOfPods(const PartMembers& members, Workload& head);

// Fills in queue, priority, preemptibility and topology from the Workload (or pod group), else from
// the owner, else from the pod, which has no topology (W4.3).
void ApplyKaiMetadata(JsonValue described_by, const PartMembers* members,
                      const SourceContext& context, GangWorkload& workload);

// Takes over what KAI's annotations of an object say of the topology of its pods, and of segments:
// those of the object at the top of their owners, which a pod without one is itself.
void ApplyKaiTopology(JsonValue object, GangWorkload& workload);

// Returns whether KAI's annotations of an object ask for a level of a topology.
bool HasKaiTopology(JsonValue object);

}  // namespace espalier
