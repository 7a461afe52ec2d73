#include "host/kueue/multikueue/flow_slices.hpp"

#include <string>

#include <fmt/format.h>

#include "host/kueue/elastic/job_slices.hpp"
#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/multikueue/flow_writes.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/excerpt.hpp"

namespace espalier {
namespace {

// The slices of a workload that is one of `workloads`.
std::vector<std::size_t> SlicesOf(const Workload& workload,
                                  const std::vector<Workload>& workloads) {
  return SlicesOf(static_cast<std::size_t>(&workload - workloads.data()), workloads);
}

// Finds the slices of the job, and those of the manager that have not finished.
Result<void> FindSlices(const Workload& copied, MultiKueueState& state, FlowSlices& slices) {
  std::vector<Workload>& workloads = state.manager.workloads;
  const std::vector<std::size_t> copied_slices = SlicesOf(copied, workloads);
  for (const std::size_t i : copied_slices) slices.all.insert(workloads[i].key);
  for (const std::size_t i : SlicesOf(*slices.workload, state.worker.workloads)) {
    slices.all.insert(state.worker.workloads[i].key);
  }
  const UnfinishedSlices unfinished = UnfinishedOf(copied_slices, workloads);
  for (const std::size_t i : unfinished.chain) slices.chain.push_back(&workloads[i]);
  if (state.slices == SliceMode::kPerReplica) {
    for (const std::size_t i : unfinished.replicas) slices.replicas.push_back(&workloads[i]);
  }
  if (slices.chain.empty()) {
    return tl::unexpected(Error{
        ErrorClass::kNotFound,
        fmt::format("Workload {} of the manager has finished", Excerpt(copied.key.ToString()))});
  }
  slices.newest = slices.chain.back();
  if (slices.chain.size() > 1) slices.old = slices.chain[slices.chain.size() - 2];
  return {};
}

}  // namespace

CountsByPodSet FlowSlices::CountsToCome() const {
  CountsByPodSet counts = CountsOf(*newest);
  for (const Workload* replica : replicas) {
    if (HasReservation(*replica)) continue;  // which is folded before anything is asked
    for (const PodSet& pod_set : replica->pod_sets) {
      const auto count = counts.find(pod_set.name);
      if (count != counts.end()) count->second += pod_set.count;
    }
  }
  return counts;
}

CountsByPodSet FlowSlices::Wanted(const CountsByPodSet& request) const {
  return With(CountsToCome(), request);
}

Result<FlowSlices> FindFlowSlices(MultiKueueState& state) {
  const std::string& worker = state.worker.name;
  const ScaledJob& job = state.worker.job;
  const std::string name =
      fmt::format("{} {} of worker {}", job.kind, Excerpt(job.key.ToString()), Excerpt(worker));
  if (!job.elastic) {
    return BadInput(fmt::format("{} lacks the annotation {}: \"true\": it cannot change its size",
                                name, kElasticJobAnnotation));
  }
  if (job.prebuilt_workload.empty()) {
    return BadInput(fmt::format("{} lacks the label {}: it was not sent by MultiKueue", name,
                                kPrebuiltWorkload));
  }
  const ObjectKey key{job.key.namespace_, job.prebuilt_workload};
  const Workload* workload = Find(state.worker.workloads, key);
  if (workload == nullptr) {
    return BadInput(
        fmt::format("{} belongs to Workload {}, which is not among the objects of "
                    "the worker",
                    name, Excerpt(key.ToString())));
  }
  const Workload* copied = Find(state.manager.workloads, key);
  if (copied == nullptr) {
    return BadInput(
        fmt::format("Workload {} of worker {} is not among the objects of the "
                    "manager",
                    Excerpt(key.ToString()), Excerpt(worker)));
  }
  FlowSlices slices;
  slices.workload = workload;
  if (auto found = FindSlices(*copied, state, slices); !found) {
    return tl::unexpected(found.error());
  }
  return slices;
}

}  // namespace espalier
