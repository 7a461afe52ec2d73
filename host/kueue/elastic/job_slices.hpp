// Finds the workloads that are slices of one job.
#pragma once

#include <cstddef>
#include <vector>

#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Returns whether `a` asks to replace `b`.
bool Replaces(const Workload& a, const Workload& b);

// Returns whether the workload is a slice per replica: one that another workload owns (KEP-77).
bool IsReplicaSlice(const Workload& workload);

// Returns the workload with quota reserved that the slice per replica is of, or null.
const Workload* ParentOf(const Workload& slice, const ClusterLookup& lookup);

// Returns the workloads cut into the slices of one job each, as ascending indices, in the order of
// the first of them: those of one chain of replacements, the slices per replica that a workload
// owns, and elastic workloads of one owner. A workload that nothing ties to another is alone.
std::vector<std::vector<std::size_t>> SlicesByJob(const std::vector<Workload>& workloads);

// Returns the slices of the job of one workload, itself among them.
std::vector<std::size_t> SlicesOf(std::size_t workload, const std::vector<Workload>& workloads);

// The unfinished workloads of one job, as indices.
struct UnfinishedSlices {
  std::vector<std::size_t> chain;     // that replace one another, oldest first
  std::vector<std::size_t> replicas;  // slices per replica, by name
};

// Returns those of `slices`, which are of one job, that have not finished. Of two in the chain the
// one that asks to replace the other is the younger, whatever their ages.
UnfinishedSlices UnfinishedOf(const std::vector<std::size_t>& slices,
                              const std::vector<Workload>& workloads);

}  // namespace espalier
