#include "service/cli/dispatch_clusters.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "host/kueue/placement_plan.hpp"
#include "host/kueue/queue_order.hpp"
#include "host/kueue/workload_status.hpp"
#include "host/model/excerpt.hpp"
#include "service/backends/backends.hpp"

namespace espalier {
namespace {

// A cluster that was read, and what each workload asks for there.
struct ReadCluster {
  std::optional<ClusterState> state;  // absent: nothing is known
  std::vector<WorkloadRequest> requests;
  std::vector<KnownFit> known;
};

Result<std::vector<Workload>> PendingWorkloads(const DispatchOptions& options) {
  Result<ClusterRead> read = ReadInput(options.input);
  if (!read) return tl::unexpected(read.error());
  std::vector<Workload> pending;
  if (options.workload.empty()) {
    for (const std::size_t index : PendingInQueueOrder(read->cluster)) {
      pending.push_back(read->cluster.workloads[index]);
    }
    return pending;
  }
  const auto key = FindWorkload(read->cluster, options.workload);
  if (!key) return tl::unexpected(key.error());
  const auto found = std::ranges::find(read->cluster.workloads, *key, &Workload::key);
  if (!IsPending(*found)) {
    return BadInput(fmt::format("workload {} is not pending", Excerpt(key->ToString())));
  }
  pending.push_back(std::move(*found));
  return pending;
}

Result<ReadCluster> ReadOne(const ClusterFiles& files, const std::vector<Workload>& workloads,
                            const DispatchOptions& options) {
  ReadCluster cluster;
  if (files.files.empty()) return cluster;
  InputOptions input = options.input;
  input.files = files.files;
  Result<ClusterRead> read = ReadInput(input);
  if (!read) return tl::unexpected(read.error());
  std::vector<Workload> running = std::move(read->cluster.workloads);
  std::erase_if(running, IsPending);
  read->cluster.workloads = workloads;
  std::ranges::move(running, std::back_inserter(read->cluster.workloads));
  const auto plan = PlanPlacement(read->cluster, {.gates = options.gates,
                                                  .only = std::nullopt,
                                                  .simulate_empty = options.simulate_empty,
                                                  .guess_flavor = options.guess_flavor});
  if (!plan) return tl::unexpected(plan.error());
  cluster.requests.resize(workloads.size());
  for (const PlannedWorkload& planned : plan->workloads) {
    if (planned.index >= workloads.size()) continue;
    if (auto known = KnownOf(planned)) {
      cluster.known.push_back(*std::move(known));
    } else {
      cluster.requests[planned.index] = std::get<WorkloadRequest>(planned.plan);
    }
  }
  std::ranges::sort(cluster.known, {}, &KnownFit::workload);
  auto state = ClusterState::Build(plan->state);
  if (!state) return tl::unexpected(state.error());
  cluster.state.emplace(*std::move(state));
  return cluster;
}

}  // namespace

std::optional<KnownFit> KnownOf(const PlannedWorkload& planned) {
  if (const auto* refused = std::get_if<RefusedWorkload>(&planned.plan)) {
    // Files without the queue may be a part of the cluster.
    const bool no_queue = planned.cluster_queue.empty() && planned.guessed_flavor.empty();
    return KnownFit{planned.index, no_queue ? FitStatus::kUnknown : FitStatus::kDoesNotFit,
                    refused->reason};
  }
  if (const auto* nothing = std::get_if<NothingToPlace>(&planned.plan)) {
    return KnownFit{planned.index, FitStatus::kUnknown, nothing->reason};
  }
  return std::nullopt;
}

Result<std::vector<ClusterFiles>> ParseClusterFiles(const std::vector<std::string>& values) {
  std::map<std::string, std::vector<std::string>> clusters;
  for (const std::string& value : values) {
    const auto equals = value.find('=');
    if (equals == std::string::npos || equals == 0) {
      return BadInput(
          fmt::format("{} is not NAME=FILE, as in east=east.json, or NAME= for a "
                      "cluster of which nothing is known",
                      Excerpt(value)));
    }
    std::vector<std::string>& files = clusters[value.substr(0, equals)];
    if (equals + 1 < value.size()) files.push_back(value.substr(equals + 1));
  }
  std::vector<ClusterFiles> parsed;
  for (auto& [name, files] : clusters) parsed.push_back({name, std::move(files)});
  return parsed;
}

Result<Dispatched> DispatchWorkloads(const DispatchOptions& options) {
  if (!options.states.empty()) return DispatchStates(options);
  const auto workloads = PendingWorkloads(options);
  if (!workloads) return tl::unexpected(workloads.error());
  Dispatched dispatched;
  for (const Workload& workload : *workloads) dispatched.workloads.push_back(workload.key);
  std::vector<ReadCluster> read;
  for (const ClusterFiles& files : options.clusters) {
    auto cluster = ReadOne(files, *workloads, options);
    if (!cluster) {
      return tl::unexpected(
          Error{cluster.error().error_class,
                fmt::format("cluster {}: {}", Excerpt(files.name), cluster.error().message)});
    }
    dispatched.clusters.push_back(files.name);
    read.push_back(*std::move(cluster));
  }
  std::vector<DispatchCluster> asked;
  for (std::size_t i = 0; i < read.size(); ++i) {
    asked.push_back({dispatched.clusters[i], read[i].state ? &*read[i].state : nullptr,
                     read[i].requests, std::move(read[i].known)});
  }
  const auto backend =
      MakeBackend(options.backend.name, options.backend.threads, workloads->size() * asked.size());
  if (!backend) return tl::unexpected(backend.error());
  dispatched.fits = Dispatch(asked, workloads->size(), Engine(*backend, options.gates));
  ReportDeviceFault(**backend);
  return dispatched;
}

}  // namespace espalier
