// Decides which of many clusters can hold a workload now, and how well (W6.6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"

namespace espalier {

// The answers to whether a workload fits a cluster, in the order in which clusters are tried.
enum class FitStatus {
  kFits,
  kUnknown,  // nothing is known of the cluster, so it may fit
  kDoesNotFit,
};

// A measure of how well a pod set is placed.
struct PodSetFit {
  std::string name;
  std::string level;           // finest level of which one domain holds all pods, or ""
  std::int32_t height = 0;     // levels below `level`; without one, the number of levels
  std::int64_t domains = 0;    // domains of the lowest level that are used
  std::int64_t left_over = 0;  // equal pods that would still fit in those domains
  std::string flavor = {};     // that it is placed on
  bool operator==(const PodSetFit&) const = default;
};

struct ClusterFit {
  std::size_t cluster = 0;  // position among the clusters that were asked
  FitStatus status = FitStatus::kUnknown;
  std::string reason;               // why it does not fit, or is not known
  std::vector<PodSetFit> pod_sets;  // in spec order; set when it fits
  // Pods that are left out where it fits with fewer, as it may be admitted in part (R21.11).
  std::int64_t left_out = 0;
  bool operator==(const ClusterFit&) const = default;
};

// A workload whose fit in one cluster is known without asking the engine.
struct KnownFit {
  std::size_t workload = 0;
  FitStatus status = FitStatus::kDoesNotFit;
  std::string reason;
};

struct DispatchCluster {
  std::string name;
  const ClusterState* state = nullptr;  // null: nothing is known of the cluster
  // The request of each workload for this cluster.
  std::span<const WorkloadRequest> requests;
  std::vector<KnownFit> known;  // ascending by workload; their requests are ignored
  FeatureGates gates = {};      // by which the cluster's own Kueue decides
};

// Orders the fits of one workload as Dispatch does; `names` are those of the clusters.
void SortFits(std::span<const std::string> names, std::vector<ClusterFit>& fits);

// Returns for each of `workloads` workloads one entry per cluster, best first: those that hold it,
// then the unknown ones, then the others. Those that hold it are ordered by the fewest pods left
// out (none by Dispatch), how close together the pods are, then by the fewest domains, then by the
// least capacity left over, then by name. Workloads and clusters are independent of each other and
// are answered in parallel; the answers are those of Engine::Nominate on each cluster, by its
// gates. Charges the budget for the fits, and for what is decided at a time.
std::vector<std::vector<ClusterFit>> Dispatch(std::span<const DispatchCluster> clusters,
                                              std::size_t workloads,
                                              const std::shared_ptr<Backend>& backend,
                                              WorkBudget& budget);

}  // namespace espalier
