#include "host/live/usage_by_key.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "host/kueue/cycle/preemption.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/objects/workload_status.hpp"

namespace espalier {
namespace {

bool IsSound(const FlavorLeafUsage& entry) {
  return std::ranges::all_of(entry.usage, [](const auto& used) {
    return used.second >= 0 && used.second <= kMostAdmitted;
  });
}

}  // namespace

std::vector<AdmittedUsage> TakeUsageByKey(const Cluster& cluster, ClusterStateInput& input) {
  const ClusterLookup lookup(cluster);
  std::vector<AdmittedUsage> jobs;
  std::vector<bool> taken(cluster.workloads.size(), false);
  for (const VictimSlices& slices : RunningJobs(cluster, {})) {
    const Workload& newest = cluster.workloads[slices.back()];
    std::vector<FlavorLeafUsage> usage = VictimOf(cluster, slices, lookup).usage;
    if (usage.empty() || !std::ranges::all_of(usage, IsSound) ||
        !std::in_range<std::int32_t>(newest.priority)) {
      continue;
    }
    for (const std::size_t slice : slices) taken[slice] = true;
    jobs.push_back({newest.key, static_cast<std::int32_t>(newest.priority),
                    SinceWhen(newest, kQuotaReserved).value_or(0), std::move(usage)});
  }
  input.tas_usage.clear();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i]) continue;
    std::ranges::move(TasUsage(cluster.workloads[i], lookup), std::back_inserter(input.tas_usage));
  }
  return jobs;
}

}  // namespace espalier
