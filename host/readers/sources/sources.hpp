// Reads all objects of the input that describe gangs into gang workloads and into the units that
// are placed.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/gangs/placement_units.hpp"
#include "host/model/cluster.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/object_index.hpp"

namespace espalier {

struct SourcesRead {
  std::vector<GangWorkload> workloads;         // expanded; single pods first
  std::vector<Workload> units;                 // the units to place, made of workloads
  std::vector<TreeIndex> trees;                // which of the units are trees
  std::vector<GangWorkload> owned;             // those that a Kueue Workload stands for; expanded
  std::map<std::string, std::size_t> objects;  // kind -> number of objects read
  std::map<std::string, std::size_t> skipped;  // kind, and why -> number of objects not used
};

// Reads batch Jobs, other objects that describe gangs, and the pods without a node. Objects that a
// Kueue Workload stands for are left out, as are those that another object of the input makes;
// `with_owned` reads the former all the same, for their counts. `trees` says which become one unit
// each. `cluster` holds everything else that was read.
SourcesRead ReadSources(const ObjectIndex& index, const Cluster& cluster,
                        const ClusterDefaults& defaults, bool with_owned, Trees trees,
                        Diagnostics& diagnostics);

}  // namespace espalier
