// Reads all objects of the input that describe gangs into gang workloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/model/cluster.hpp"
#include "host/readers/effective_requests.hpp"
#include "host/readers/object_index.hpp"

namespace espalier {

struct JobObject;

struct SourcesRead {
  std::vector<GangWorkload> workloads;  // expanded; single pods first
  // The object that each of `workloads` was read from; nullopt: pods alone.
  std::vector<std::optional<SourceObject>> read_from;
  std::vector<GangWorkload> owned;             // those that a Kueue Workload stands for; expanded
  std::vector<ObjectKey> requeued;             // pods that are taken off their nodes
  std::map<std::string, std::size_t> objects;  // kind -> number of objects read
  std::map<std::string, std::size_t> skipped;  // kind, and why -> number of objects not used
};

struct SourcesOptions {
  bool with_owned = false;  // read what a Kueue Workload stands for all the same, for its counts
  bool as_kueue = true;     // as in SourceContext, but for objects that the gang API describes
  std::optional<std::int64_t> now_seconds = {};       // as in ReadOptions
  std::function<void(const JobObject&)> on_job = {};  // as in ReadOptions
  bool managed_only = false;  // refuse jobs that Kueue's Configuration says it does not manage
};

// Reads batch Jobs, other objects that describe gangs, and the pods without a node. Objects that a
// Kueue Workload stands for are left out, as are those that another object of the input makes.
// `cluster` holds everything else that was read.
SourcesRead ReadSources(const ObjectIndex& index, const Cluster& cluster,
                        const ClusterDefaults& defaults, const SourcesOptions& options,
                        Diagnostics& diagnostics);

}  // namespace espalier
