// Implements `espalier place --cluster`: decides which of several saved clusters can hold the
// pending workloads.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/kueue/planning/placement_plan.hpp"
#include "host/model/result.hpp"
#include "host/what_if/dispatch.hpp"
#include "service/cli/options/backend_options.hpp"
#include "service/cli/options/input.hpp"
#include "service/client/client_options.hpp"

namespace espalier {

struct ClusterFiles {
  std::string name;
  std::vector<std::string> files;  // empty: nothing is known of the cluster
};

// Returns the clusters that values of --cluster name, in the order of their names: NAME=FILE, or
// NAME= for one of which nothing is known. Values of one name are files of one cluster. Errors:
// kBadInput for any other value.
Result<std::vector<ClusterFiles>> ParseClusterFiles(const std::vector<std::string>& values);

struct DispatchOptions {
  InputOptions input;  // its files contain the workloads
  std::vector<ClusterFiles> clusters;
  std::string workload;  // value of --workload; empty: all pending ones
  bool simulate_empty = false;
  bool guess_flavor = false;
  BackendOptions backend;
  std::string connect;  // address of a server, whose states are asked instead of clusters
  ClientTls tls = {};   // to that server
  std::string states;   // NAME,NAME,... of them; empty: clusters are asked
};

struct Dispatched {
  std::vector<std::string> clusters;
  std::vector<ObjectKey> workloads;           // in queue order
  std::vector<std::vector<ClusterFit>> fits;  // one list per workload, best first
};

// Returns what is known of a workload without asking the engine, or nothing.
std::optional<KnownFit> KnownOf(const PlannedWorkload& planned);

// Returns the fits of one workload that several choices of flavors were asked about: in each
// cluster the first choice that it can hold, or else the first, with the reasons of all. `fits[c]`
// are the fits of choice `c`, in any order, and at least one; `flavors[c]` are its flavors.
std::vector<ClusterFit> BestOfChoices(std::span<const std::vector<ClusterFit>> fits,
                                      std::span<const std::string> flavors);

// Answers requests in one cluster: for each its only fit.
using FitsInOne =
    std::function<Result<std::vector<std::vector<ClusterFit>>>(std::vector<WorkloadRequest>)>;

// Replaces the fit of a workload that a cluster does not hold, and that may be admitted in part, by
// that with the most pods that it holds (R21.11), if any. `choices` are all requests for the
// workload. Errors are those of `ask`.
Result<void> TryFewer(const FewerPods& fewer, const std::vector<const WorkloadRequest*>& choices,
                      const FitsInOne& ask, ClusterFit& fit);

// Asks each cluster about each workload, which takes the place of the pending ones of the cluster
// and goes through the cluster's own queues. A workload whose queue the cluster's files do not have
// is unknown there. Errors: as ReadInput, FindWorkload, PlanPlacement and ClusterState::Build, with
// the cluster's name; those of DispatchStates.
Result<Dispatched> DispatchWorkloads(const DispatchOptions& options);

// Asks the named states of a server, for the flavors that the queues of the files choose. Errors:
// as ReadInput, FindWorkload, PlanPlacement and RemoteEngine; a state without a name (kBadInput).
Result<Dispatched> DispatchStates(const DispatchOptions& options);

}  // namespace espalier
