#include "host/kueue/elastic/job_slices.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/workload_status.hpp"

namespace espalier {
namespace {

// Sets of workloads that grow together; the smallest index stands for its set.
class Sets {
 public:
  explicit Sets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }

  std::size_t Find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(std::size_t a, std::size_t b) {
    a = Find(a);
    b = Find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

// The job that owns an elastic workload, as text; empty: none, or it is not known which.
std::string JobOf(const Workload& workload) {
  if (!IsElasticJob(workload) || workload.owners.empty() || IsReplicaSlice(workload)) return "";
  const OwnerReference& owner = workload.owners.front();
  if (owner.name.empty() && owner.uid.empty()) return "";
  return workload.key.namespace_ + "/" + owner.kind + "/" + owner.name + "/" + owner.uid;
}

Sets JoinSlices(const std::vector<Workload>& workloads) {
  Sets sets(workloads.size());
  std::unordered_map<std::string, std::size_t> names;  // NAMESPACE/NAME of chains and of workloads
  std::unordered_map<std::string, std::size_t> jobs;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    names.emplace(workloads[i].key.ToString(), i);
  }
  const auto join = [&](auto& known, std::string name, std::size_t i) {
    const auto [at, added] = known.emplace(std::move(name), i);
    if (!added) sets.Join(at->second, i);
  };
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const Workload& workload = workloads[i];
    const std::string& ns = workload.key.namespace_;
    join(names, ObjectKey{ns, std::string(SliceName(workload))}.ToString(), i);
    if (const std::string* replaced = workload.annotations.Find(kSliceReplacementFor)) {
      if (replaced->starts_with(ns + "/")) join(names, *replaced, i);
    }
    for (const OwnerReference& owner : workload.owners) {
      if (owner.kind == "Workload" && !owner.name.empty()) {
        join(names, ObjectKey{ns, owner.name}.ToString(), i);
      }
    }
    if (std::string job = JobOf(workload); !job.empty()) join(jobs, std::move(job), i);
  }
  return sets;
}

}  // namespace

bool Replaces(const Workload& a, const Workload& b) {
  const std::string* name = a.annotations.Find(kSliceReplacementFor);
  return name != nullptr && *name == b.key.ToString();
}

bool IsReplicaSlice(const Workload& workload) {
  return std::ranges::any_of(workload.owners,
                             [](const OwnerReference& owner) { return owner.kind == "Workload"; });
}

const Workload* ParentOf(const Workload& slice, const ClusterLookup& lookup) {
  for (const OwnerReference& owner : slice.owners) {
    if (owner.kind != "Workload") continue;
    const Workload* parent = lookup.FindWorkload({slice.key.namespace_, owner.name});
    if (parent != nullptr && HasReservation(*parent)) return parent;
  }
  return nullptr;
}

std::vector<std::vector<std::size_t>> SlicesByJob(const std::vector<Workload>& workloads) {
  Sets sets = JoinSlices(workloads);
  std::vector<std::vector<std::size_t>> jobs;
  std::unordered_map<std::size_t, std::size_t> job_of_first;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const auto [job, added] = job_of_first.emplace(sets.Find(i), jobs.size());
    if (added) jobs.emplace_back();
    jobs[job->second].push_back(i);
  }
  return jobs;
}

std::vector<std::size_t> SlicesOf(std::size_t workload, const std::vector<Workload>& workloads) {
  Sets sets = JoinSlices(workloads);
  std::vector<std::size_t> slices;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (sets.Find(i) == sets.Find(workload)) slices.push_back(i);
  }
  return slices;
}

UnfinishedSlices UnfinishedOf(const std::vector<std::size_t>& slices,
                              const std::vector<Workload>& workloads) {
  UnfinishedSlices unfinished;
  for (const std::size_t i : slices) {
    if (HasCondition(workloads[i], kFinished)) continue;
    (IsReplicaSlice(workloads[i]) ? unfinished.replicas : unfinished.chain).push_back(i);
  }
  const auto by_age = [&](std::size_t i) {
    return std::pair(workloads[i].creation_seconds, workloads[i].key);
  };
  const auto by_name = [&](std::size_t i) -> const ObjectKey& { return workloads[i].key; };
  std::ranges::sort(unfinished.chain, {}, by_age);
  std::ranges::sort(unfinished.replicas, {}, by_name);
  auto& chain = unfinished.chain;
  if (chain.size() == 2 && Replaces(workloads[chain[0]], workloads[chain[1]]) &&
      !Replaces(workloads[chain[1]], workloads[chain[0]])) {
    std::swap(chain[0], chain[1]);
  }
  return unfinished;
}

}  // namespace espalier
