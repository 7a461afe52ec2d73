#include "host/kueue/cycle/preemption.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "host/kueue/cycle/queue_order.hpp"
#include "host/kueue/cycle/quota_requests.hpp"
#include "host/kueue/elastic/job_slices.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/workload_status.hpp"

namespace espalier {
namespace {

using FlavorResources = std::set<std::pair<std::string, std::string>>;

FlavorResources AskedFor(const WorkloadRequest& request, const KueueConfiguration* configuration) {
  FlavorResources asked;
  for (const PodSetRequest& pod_set : request.pod_sets) {
    for (const auto& [resource, amount] :
         QuotaRequests(pod_set.pod_template, pod_set.requests, configuration)) {
      asked.emplace(pod_set.flavor, resource);
    }
  }
  return asked;
}

bool UsesAny(const Workload& workload, const FlavorResources& asked) {
  const auto& assignments = workload.admission->pod_set_assignments;
  return std::ranges::any_of(assignments, [&](const PodSetAssignment& assignment) {
    return std::ranges::any_of(assignment.flavors, [&](const auto& entry) {
      return asked.contains({entry.second, entry.first});
    });
  });
}

// R29.2; without a condition the quota counts as reserved now.
auto RemovalOrder(const Workload& workload) {
  const std::int64_t reserved =
      SinceWhen(workload, kQuotaReserved).value_or(std::numeric_limits<std::int64_t>::max());
  return std::tuple(!HasCondition(workload, kEvicted), workload.priority, -reserved, workload.uid);
}

}  // namespace

bool Allows(PreemptionPolicy policy, const Workload& workload, const Workload& candidate) {
  switch (policy) {
    case PreemptionPolicy::kNever:
      return false;
    case PreemptionPolicy::kLowerPriority:
      return candidate.priority < workload.priority;
    case PreemptionPolicy::kLowerOrNewerEqualPriority:
      return candidate.priority < workload.priority ||
             (candidate.priority == workload.priority &&
              QueueOrderSeconds(candidate) > QueueOrderSeconds(workload));
    case PreemptionPolicy::kAny:
      return true;
  }
  return false;
}

std::optional<PreemptionPolicy> ParsePreemptionPolicy(std::string_view name) {
  if (name.empty() || name == "Never") return PreemptionPolicy::kNever;
  if (name == "LowerPriority") return PreemptionPolicy::kLowerPriority;
  if (name == "LowerOrNewerEqualPriority") return PreemptionPolicy::kLowerOrNewerEqualPriority;
  if (name == "Any") return PreemptionPolicy::kAny;
  return std::nullopt;
}

std::vector<VictimSlices> PreemptionCandidates(const Cluster& cluster, const Workload& workload,
                                               const WorkloadRequest& request,
                                               std::string_view cluster_queue,
                                               PreemptionPolicy policy) {
  const FlavorResources asked =
      AskedFor(request, cluster.configuration ? &*cluster.configuration : nullptr);
  const auto order = [&](std::size_t i) { return RemovalOrder(cluster.workloads[i]); };
  std::vector<VictimSlices> candidates = RunningJobs(cluster, workload.key);
  std::erase_if(candidates, [&](const VictimSlices& slices) {
    const auto of = [&](std::size_t i) -> const Workload& { return cluster.workloads[i]; };
    return !std::ranges::all_of(slices, [&](std::size_t i) {
      return of(i).admission->cluster_queue == cluster_queue && Allows(policy, workload, of(i));
    }) || !std::ranges::any_of(slices, [&](std::size_t i) { return UsesAny(of(i), asked); });
  });
  for (VictimSlices& slices : candidates) std::ranges::stable_sort(slices, {}, order);
  std::ranges::stable_sort(candidates, {},
                           [&](const VictimSlices& slices) { return order(slices.front()); });
  return candidates;
}

std::vector<VictimSlices> RunningJobs(const Cluster& cluster, const ObjectKey& workload) {
  std::vector<VictimSlices> jobs = SlicesByJob(cluster.workloads);
  std::erase_if(jobs, [&](VictimSlices& slices) {
    if (std::ranges::any_of(slices,
                            [&](std::size_t i) { return cluster.workloads[i].key == workload; })) {
      return true;
    }
    std::erase_if(slices, [&](std::size_t i) { return !HasReservation(cluster.workloads[i]); });
    return slices.empty();
  });
  return jobs;
}

Victim VictimOf(const Cluster& cluster, const VictimSlices& slices, const ClusterLookup& lookup) {
  Victim victim{cluster.workloads[slices.front()].key.ToString(), {}};
  for (const std::size_t i : slices) {
    std::ranges::move(TasUsage(cluster.workloads[i], lookup), std::back_inserter(victim.usage));
  }
  return victim;
}

}  // namespace espalier
