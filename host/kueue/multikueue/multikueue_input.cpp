#include "host/kueue/multikueue/multikueue_input.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/kueue/elastic/job_slices.hpp"
#include "host/kueue/elastic/owned_jobs.hpp"
#include "host/kueue/elastic/resize_plan.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/ungater.hpp"
#include "host/model/excerpt.hpp"
#include "host/model/pod_phase.hpp"

namespace espalier {
namespace {

CountsByPodSet CountRunningPods(const Workload& workload, const std::vector<Pod>& pods,
                                bool suspended) {
  CountsByPodSet counts;
  std::set<std::string_view> seen;  // pod sets that the files have pods of
  for (const PodSet& pod_set : workload.pod_sets) counts[pod_set.name] = 0;
  for (const Pod& pod : pods) {
    const std::string* pod_set = pod.labels.Find(kPodSetLabel);
    if (pod_set == nullptr || !counts.contains(*pod_set) || !IsPodOf(workload, pod)) continue;
    seen.insert(*pod_set);
    if (!IsGated(pod) && !HasEnded(pod)) ++counts[*pod_set];
  }
  if (suspended) return counts;
  for (const PodSet& pod_set : workload.pod_sets) {
    if (!seen.contains(pod_set.name)) counts[pod_set.name] = pod_set.count;
  }
  return counts;
}

// Marks the slices of an elastic job as elastic in the manager, which need not have the job.
void OptInSlices(const ObjectKey& key, std::vector<Workload>& workloads) {
  const auto named = std::ranges::find(workloads, key, &Workload::key);
  if (named == workloads.end()) return;
  const auto at = static_cast<std::size_t>(named - workloads.begin());
  for (const std::size_t i : SlicesOf(at, workloads)) {
    StringMap& annotations = workloads[i].annotations;
    if (annotations.Find(kElasticJobAnnotation) == nullptr) {
      annotations.Set(kElasticJobAnnotation, "true");
    }
  }
}

const std::string* PrebuiltWorkload(const GangWorkload& job) {
  return job.head.labels.Find(kPrebuiltWorkload);
}

// A job, and the worker cluster that it is in.
struct FoundJob {
  const GangWorkload* job = nullptr;
  FlowCluster* worker = nullptr;
};

Result<FoundJob> FindJob(std::vector<FlowCluster>& workers, const std::string& name) {
  std::vector<FoundJob> found;
  std::vector<std::string> names;
  for (FlowCluster& worker : workers) {
    for (const GangWorkload& job : worker.jobs) {
      const ObjectKey& key = job.head.key;
      const bool wanted = name.empty() ? PrebuiltWorkload(job) != nullptr
                                       : key.name == name || key.ToString() == name;
      if (!wanted) continue;
      found.push_back({&job, &worker});
      names.push_back(workers.size() == 1 ? key.ToString()
                                          : fmt::format("{} in {}", key.ToString(), worker.name));
    }
  }
  if (found.size() == 1) return found.front();
  const std::string where =
      workers.size() == 1 ? "the worker cluster has" : "the worker clusters have";
  std::string what = name.empty() ? fmt::format("no job with the label {}", kPrebuiltWorkload)
                                  : fmt::format("no job {}", Excerpt(name));
  if (!found.empty()) {
    what = fmt::format("several jobs: {}; choose one with --workload", fmt::join(names, ", "));
  }
  return tl::unexpected(Error{ErrorClass::kNotFound, fmt::format("{} {}", where, what)});
}

Result<void> CheckNames(const std::vector<FlowCluster>& workers) {
  std::set<std::string_view> names;
  for (const FlowCluster& worker : workers) {
    if (worker.name.empty() || worker.name == "manager") {
      return BadInput(fmt::format("a worker cluster is called \"{}\"; a name of its own expected",
                                  worker.name));
    }
    if (!names.insert(worker.name).second) {
      return BadInput(fmt::format("two worker clusters are called \"{}\"", Excerpt(worker.name)));
    }
  }
  return {};
}

}  // namespace

Result<MultiKueueState> MakeMultiKueueState(FlowCluster manager, std::vector<FlowCluster> workers,
                                            const std::string& job) {
  if (auto checked = CheckNames(workers); !checked) return tl::unexpected(checked.error());
  const auto found = FindJob(workers, job);
  if (!found) return tl::unexpected(found.error());
  FlowCluster& worker = *found->worker;
  MultiKueueState state;
  const GangWorkload& read = *found->job;
  ScaledJob& scaled = state.worker.job;
  scaled.kind = read.true_workload ? read.true_workload->kind : read.source;
  scaled.key = read.head.key;
  scaled.elastic = IsElasticJob(read.head);
  if (const std::string* name = PrebuiltWorkload(read)) scaled.prebuilt_workload = *name;
  scaled.suspended = HasCondition(read.head, "Suspended");
  scaled.counts = CountsOf(read);
  const ObjectKey key{scaled.key.namespace_, scaled.prebuilt_workload};
  const auto& workloads = worker.cluster.workloads;
  const auto workload = std::ranges::find(workloads, key, &Workload::key);
  if (workload != workloads.end()) {
    scaled.runs = CountRunningPods(*workload, worker.cluster.pods, scaled.suspended);
  }
  if (scaled.elastic) OptInSlices(key, manager.cluster.workloads);
  if (!manager.requests) return tl::unexpected(manager.requests.error());
  if (!worker.requests) return tl::unexpected(worker.requests.error());
  state.manager_requests = *std::move(manager.requests);
  state.worker.requests = *std::move(worker.requests);
  state.worker.name = worker.name;
  state.manager = std::move(manager.cluster);
  state.worker.workloads = std::move(worker.cluster.workloads);
  return state;
}

Result<void> SetWantedCounts(std::span<const std::pair<std::string, std::int64_t>> counts,
                             MultiKueueState& state) {
  ScaledJob& job = state.worker.job;
  const auto& workloads = state.worker.workloads;
  const ObjectKey key{job.key.namespace_, job.prebuilt_workload};
  const auto workload = std::ranges::find(workloads, key, &Workload::key);
  if (workload != workloads.end()) {
    if (auto wanted = WantedCounts(*workload, counts); !wanted) {
      return tl::unexpected(wanted.error());
    }
  }
  for (const auto& [name, count] : counts) job.counts[name] = count;
  return {};
}

}  // namespace espalier
