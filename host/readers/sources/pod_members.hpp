// Assigns the pods of the input to the gangs they are members of.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "host/model/cluster.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/object_index.hpp"
#include "host/readers/sources/owners.hpp"
#include "host/readers/sources/part_members.hpp"

namespace espalier {

struct PodMembers {
  Members members;
  // Pods that are workloads of their own, and those that are left out, as workloads that wait.
  std::vector<GangWorkload> alone;
  std::map<std::string, std::size_t> skipped;  // kind, and why -> number of pods not used here
};

// Returns whether nothing that matters for placing tells the pods apart (W8.4).
bool AreAlike(const PodTemplate& a, const PodTemplate& b);

// Reads which gang each pod belongs to, of those that have not ended. Pods of no gang that have
// neither a node nor an owner become workloads of their own, as do gated ones whose owner has
// Workloads of Kueue's for other pods (R30.1). Notes in `owners` which of the others have a
// Workload or a node. `as_kueue` as in SourceContext.
PodMembers ReadPodMembers(const ObjectIndex& index, const Cluster& cluster,
                          const ClusterDefaults& defaults, OwnerIndex& owners, bool as_kueue,
                          Diagnostics& diagnostics);

// Returns the workload that Kueue makes of a group of plain pods.
GangWorkload KueuePodGroup(const std::string& name_space, const std::string& name,
                           const PartMembers& members, const ObjectIndex& index,
                           const ClusterDefaults& defaults, bool as_kueue,
                           Diagnostics& diagnostics);

}  // namespace espalier
