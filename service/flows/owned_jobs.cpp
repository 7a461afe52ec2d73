#include "service/flows/owned_jobs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/workload_status.hpp"

namespace espalier {
namespace {

bool IsOf(const Workload& workload, const GangWorkload& job) {
  if (workload.key.namespace_ != job.head.key.namespace_ || !job.true_workload) return false;
  return std::ranges::any_of(workload.owners, [&](const OwnerReference& owner) {
    return owner.kind == job.true_workload->kind && owner.name == job.head.key.name;
  });
}

// Of two the one that replaces the other, or the younger.
const Workload* NewestOf(const std::vector<Workload>& workloads, const GangWorkload& job) {
  const Workload* newest = nullptr;
  for (const Workload& workload : workloads) {
    if (HasCondition(workload, kFinished) || !IsOf(workload, job)) continue;
    const std::string* replaced = workload.annotations.Find(kSliceReplacementFor);
    const bool replaces =
        newest != nullptr && replaced != nullptr && *replaced == newest->key.ToString();
    if (newest == nullptr || replaces || workload.creation_seconds > newest->creation_seconds) {
      newest = &workload;
    }
  }
  return newest;
}

}  // namespace

CountsByPodSet CountsOf(const GangWorkload& job) {
  CountsByPodSet counts;
  for (const GangGroup& gang : job.gang_groups) {
    for (const RankedGroup& ranked : gang.ranked_groups) {
      for (const EqGroup& group : ranked.eq_groups) {
        counts[group.name] += group.count.value_or(group.min_count.value_or(0));
      }
    }
  }
  return counts;
}

std::vector<std::string> OptIn(ClusterRead& read) {
  std::vector<std::string> notes;
  for (const GangWorkload& job : read.owned_jobs) {
    if (!IsElasticJob(job.head)) continue;
    for (Workload& workload : read.cluster.workloads) {
      if (HasCondition(workload, kFinished) || !IsOf(workload, job)) continue;
      if (workload.annotations.Find(kElasticJobAnnotation) != nullptr) continue;
      workload.annotations.Set(kElasticJobAnnotation, "true");
      notes.push_back(fmt::format("workload {} counts as elastic, as its {} {} is",
                                  workload.key.ToString(), job.true_workload->kind,
                                  job.head.key.ToString()));
    }
  }
  return notes;
}

std::vector<ResizeRequest> ResizesOf(const ClusterRead& read) {
  std::vector<ResizeRequest> resizes;
  for (const GangWorkload& job : read.owned_jobs) {
    const Workload* workload = NewestOf(read.cluster.workloads, job);
    if (workload == nullptr || !IsElasticJob(*workload)) continue;
    const CountsByPodSet wanted = CountsOf(job);
    ResizeRequest resize{workload->key, {}, SliceMode::kReplacement, ResizeProfile::kKueue};
    for (const PodSet& pod_set : workload->pod_sets) {
      const auto count = wanted.find(pod_set.name);
      if (count != wanted.end() && count->second != pod_set.count) resize.counts.push_back(*count);
    }
    if (!resize.counts.empty()) resizes.push_back(std::move(resize));
  }
  return resizes;
}

}  // namespace espalier
