// Reads the desired sizes of jobs that Kueue Workloads stand for already.
#pragma once

#include <vector>

#include "host/kueue/multikueue_flow.hpp"
#include "host/kueue/resize_plan.hpp"
#include "host/readers/cluster_files.hpp"

namespace espalier {

// Returns the pods that a job requests, by the name of their group.
PodCounts CountsOf(const GangWorkload& job);

// Returns a resize for each job whose counts differ from those of its elastic workload: the newest
// of the job's unfinished workloads.
std::vector<ResizeRequest> ResizesOf(const ClusterRead& read);

}  // namespace espalier
