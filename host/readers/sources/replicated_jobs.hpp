// Reads the replicatedJobs of a JobSet, or of the JobSet that a training runtime makes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/readers/sources/source_reader.hpp"

namespace espalier {

struct ReplicatedJob {
  std::string name;
  JsonValue pod_template;
  JsonValue job_template;
  std::int32_t replicas = 1;
  std::int32_t pods = 1;  // pods of each replica
  bool indexed = true;
  bool waits = false;  // for another job of the list
};

// Reads the list; items with an error are reported and left out.
std::vector<ReplicatedJob> ReadReplicatedJobs(JsonValue job_set_spec, const SourceContext& context);

// Returns the pods of `replicas` of the job's replicas, named and counted as Kueue does.
EqGroup EqGroupOf(const ReplicatedJob& job, std::int32_t replicas, const SourceContext& context);

}  // namespace espalier
