// Compares the desired sizes of jobs with the Kueue Workloads that stand for them already.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Returns the pods that a job requests, by the name of their group.
CountsByPodSet CountsOf(const GangWorkload& job);

// Marks the unfinished workloads of elastic jobs as elastic, where they do not say themselves
// whether they are: KEP-77 opts in by the job, as by `enableInTreeAutoscaling` of a RayCluster.
// Returns a sentence for each.
std::vector<std::string> OptIn(std::span<const GangWorkload> jobs, std::span<Workload> workloads);

// Returns a resize for each job whose counts differ from those of its elastic workload: the newest
// of the job's unfinished workloads.
std::vector<ResizeRequest> ResizesOf(std::span<const GangWorkload> jobs,
                                     std::span<const Workload> workloads);

// Returns a sentence for each job that wants other counts than its workload has, and that nothing
// resizes: those that are not elastic, and with `elastic_too` the others.
std::vector<std::string> OtherSizes(std::span<const GangWorkload> jobs,
                                    std::span<const Workload> workloads, bool elastic_too);

// Refuses all waiting workloads of a job but the one that Kueue keeps. Slices of elastic jobs, and
// kinds of which Kueue makes several Workloads an object (R30.1), are left as they are.
void HoldBackSurplus(std::span<const GangWorkload> jobs, std::span<Workload> workloads);

}  // namespace espalier
