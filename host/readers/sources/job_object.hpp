// An object of which Kueue makes Workloads, as it is read.
#pragma once

#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/model/cluster.hpp"
#include "host/readers/sources/source_reader.hpp"

namespace espalier {

// Valid only during the call that it is given to (ReadOptions::on_job).
struct JobObject {
  JsonValue value;
  const SourceContext& context;  // its kind and version, and the other objects of the input
  const std::vector<GangWorkload>& read;  // what was read of it; of a Pod nothing
  const Cluster& cluster;  // all that is no job: queues, flavors, Kueue's Configuration
};

}  // namespace espalier
