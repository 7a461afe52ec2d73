#include "service/cli/commands/dispatch_clusters.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "host/kueue/cycle/queue_order.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/model/excerpt.hpp"
#include "service/backends/backends.hpp"
#include "service/cli/terminal/standard_output.hpp"

namespace espalier {
namespace {

// A cluster that was read, and what each workload asks for there.
struct ClusterToAsk {
  std::optional<ClusterState> state;                  // absent: nothing is known
  std::vector<std::vector<WorkloadRequest>> choices;  // of each workload, in the order of its queue
  std::vector<std::optional<FewerPods>> fewer;        // as PlannedWorkload's
  std::vector<KnownFit> known;                        // of those without choices
  FeatureGates gates;                                 // by which its own Kueue decides
};

// The workloads that are asked about, and the gates of clusters that have no Configuration.
struct WorkloadsToDispatch {
  std::vector<Workload> workloads;
  FeatureGates gates;
};

Result<WorkloadsToDispatch> PendingWorkloads(const DispatchOptions& options) {
  Result<ClusterRead> read = ReadInput(options.input);
  if (!read) return tl::unexpected(read.error());
  const Result<FeatureGates> gates = GatesOf(read->cluster, options.input.feature_gates);
  if (!gates) return tl::unexpected(gates.error());
  WorkloadsToDispatch asked{{}, *gates};
  std::vector<Workload>& pending = asked.workloads;
  if (options.workload.empty()) {
    for (const std::size_t index : PendingInQueueOrder(read->cluster)) {
      pending.push_back(read->cluster.workloads[index]);
    }
    return asked;
  }
  const auto key = FindWorkload(read->cluster, options.workload);
  if (!key) return tl::unexpected(key.error());
  const auto found = std::ranges::find(read->cluster.workloads, *key, &Workload::key);
  if (!IsPending(*found)) {
    return BadInput(fmt::format("workload {} is not pending", Excerpt(key->ToString())));
  }
  pending.push_back(std::move(*found));
  return asked;
}

Result<ClusterToAsk> ReadOne(const ClusterFiles& files, const WorkloadsToDispatch& asked,
                             const DispatchOptions& options) {
  const std::vector<Workload>& workloads = asked.workloads;
  ClusterToAsk cluster;
  if (files.files.empty()) return cluster;
  InputOptions input = options.input;
  input.files = files.files;
  Result<ClusterRead> read = ReadInput(input);
  if (!read) return tl::unexpected(read.error());
  cluster.gates = asked.gates;
  if (read->cluster.configuration) {
    const Result<FeatureGates> gates = GatesOf(read->cluster, options.input.feature_gates);
    if (!gates) return tl::unexpected(gates.error());
    cluster.gates = *gates;
  }
  std::vector<Workload> running = std::move(read->cluster.workloads);
  std::erase_if(running, IsPending);
  read->cluster.workloads = workloads;
  std::ranges::move(running, std::back_inserter(read->cluster.workloads));
  const auto plan = PlanPlacement(read->cluster, {.gates = cluster.gates,
                                                  .only = std::nullopt,
                                                  .simulate_empty = options.simulate_empty,
                                                  .guess_flavor = options.guess_flavor});
  if (!plan) return tl::unexpected(plan.error());
  cluster.choices.resize(workloads.size());
  cluster.fewer.resize(workloads.size());
  for (const PlannedWorkload& planned : plan->workloads) {
    if (planned.index >= workloads.size()) continue;
    if (auto known = KnownOf(planned)) {
      cluster.known.push_back(*std::move(known));
    } else {
      for (const WorkloadRequest* request : planned.Choices()) {
        cluster.choices[planned.index].push_back(*request);
      }
      cluster.fewer[planned.index] = planned.fewer;
    }
  }
  std::ranges::sort(cluster.known, {}, &KnownFit::workload);
  auto state = ClusterState::Build(plan->state);
  if (!state) return tl::unexpected(state.error());
  cluster.state.emplace(*std::move(state));
  return cluster;
}

// The requests of one cluster, as many in a row for each workload as any cluster has choices of it.
struct ChoicesInRows {
  std::vector<WorkloadRequest> requests;
  std::vector<KnownFit> known;
};

ChoicesInRows InRows(const ClusterToAsk& cluster, const std::vector<std::size_t>& rows_of) {
  ChoicesInRows rows;
  auto known = cluster.known.begin();
  for (std::size_t w = 0; w < rows_of.size(); ++w) {
    const bool is_known = known != cluster.known.end() && known->workload == w;
    for (std::size_t c = 0; c < rows_of[w]; ++c) {
      WorkloadRequest& request = rows.requests.emplace_back();
      if (!cluster.choices.empty() && c < cluster.choices[w].size()) {
        request = cluster.choices[w][c];
      } else if (is_known) {
        rows.known.push_back({rows.requests.size() - 1, known->status, known->reason});
      } else {  // it has no such choice
        rows.known.push_back({rows.requests.size() - 1, FitStatus::kDoesNotFit, ""});
      }
    }
    if (is_known) ++known;
  }
  return rows;
}

// Tries fewer pods in each cluster of `fits` that does not hold all of a workload.
Result<void> TryFewerInEach(std::size_t workload, const std::vector<DispatchCluster>& asked,
                            const std::vector<ClusterToAsk>& read,
                            const std::shared_ptr<Backend>& backend,
                            std::vector<ClusterFit>& fits) {
  for (ClusterFit& fit : fits) {
    const ClusterToAsk& cluster = read[fit.cluster];
    if (cluster.fewer.empty() || !cluster.fewer[workload]) continue;
    std::vector<const WorkloadRequest*> choices;
    for (const WorkloadRequest& choice : cluster.choices[workload]) choices.push_back(&choice);
    const FitsInOne ask = [&](const std::vector<WorkloadRequest>& requests) {
      DispatchCluster one = asked[fit.cluster];
      one.requests = requests;
      one.known = {};
      return Dispatch({&one, 1}, requests.size(), backend, WorkBudget::Unlimited());
    };
    if (auto tried = TryFewer(*cluster.fewer[workload], choices, ask, fit); !tried) return tried;
  }
  return {};
}

const ClusterFit& FitIn(std::size_t cluster, const std::vector<ClusterFit>& fits) {
  return *std::ranges::find(fits, cluster, &ClusterFit::cluster);
}

}  // namespace

std::vector<ClusterFit> BestOfChoices(std::span<const std::vector<ClusterFit>> fits,
                                      std::span<const std::string> flavors) {
  std::vector<ClusterFit> best;
  for (const ClusterFit& first : fits.front()) {
    ClusterFit& found = best.emplace_back(first);
    std::string reasons;
    for (std::size_t c = 0; c < fits.size(); ++c) {
      const ClusterFit& fit = FitIn(first.cluster, fits[c]);
      if (fit.status == FitStatus::kFits || fit.status == FitStatus::kUnknown) {
        found = fit;
        break;
      }
      const bool repeated = fit.reason.empty() || (c > 0 && fit.reason == first.reason);
      if (c == 0 || repeated) continue;
      reasons += fmt::format("; on {}: {}", flavors[c], fit.reason);
    }
    if (found.status == FitStatus::kDoesNotFit) found.reason += reasons;
  }
  return best;
}

Result<void> TryFewer(const FewerPods& fewer, const std::vector<const WorkloadRequest*>& choices,
                      const FitsInOne& ask, ClusterFit& fit) {
  if (fit.status != FitStatus::kDoesNotFit) return {};
  const std::size_t cluster = fit.cluster;
  auto held =
      FindFewer(fewer, choices, [&](const std::vector<WorkloadRequest>& requests) -> Result<bool> {
        auto fits = ask(requests);
        if (!fits) return tl::unexpected(fits.error());
        for (std::size_t c = 0; c < fits->size(); ++c) {
          ClusterFit& found = (*fits)[c].front();
          if (found.status != FitStatus::kFits) continue;
          fit = std::move(found);
          fit.cluster = cluster;
          fit.left_out = PodsOf(*choices[c]) - PodsOf(requests[c]);
          return true;
        }
        return false;
      });
  if (!held) return tl::unexpected(held.error());
  return {};
}

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
  const auto pending = PendingWorkloads(options);
  if (!pending) return tl::unexpected(pending.error());
  Dispatched dispatched;
  for (const Workload& workload : pending->workloads) dispatched.workloads.push_back(workload.key);
  std::vector<ClusterToAsk> read;
  for (const ClusterFiles& files : options.clusters) {
    auto cluster = ReadOne(files, *pending, options);
    if (!cluster) {
      return tl::unexpected(
          Error{cluster.error().error_class,
                fmt::format("cluster {}: {}", Excerpt(files.name), cluster.error().message)});
    }
    dispatched.clusters.push_back(files.name);
    read.push_back(*std::move(cluster));
  }
  std::vector<std::size_t> rows_of(pending->workloads.size(), 1);
  for (const ClusterToAsk& cluster : read) {
    for (std::size_t w = 0; w < cluster.choices.size(); ++w) {
      rows_of[w] = std::max(rows_of[w], cluster.choices[w].size());
    }
  }
  std::vector<ChoicesInRows> rows;
  for (const ClusterToAsk& cluster : read) rows.push_back(InRows(cluster, rows_of));
  std::vector<DispatchCluster> asked;
  std::size_t all_rows = 0;
  for (const std::size_t of_workload : rows_of) all_rows += of_workload;
  for (std::size_t i = 0; i < read.size(); ++i) {
    asked.push_back({dispatched.clusters[i], read[i].state ? &*read[i].state : nullptr,
                     rows[i].requests, std::move(rows[i].known), read[i].gates});
  }
  const auto backend =
      MakeBackend(options.backend.name, options.backend.threads, all_rows * asked.size());
  if (!backend) return tl::unexpected(backend.error());
  const auto fits = Dispatch(asked, all_rows, *backend, WorkBudget::Unlimited());
  for (std::size_t w = 0, row = 0; w < rows_of.size(); row += rows_of[w++]) {
    std::vector<std::string> flavors(rows_of[w]);
    for (std::size_t c = 0; c < rows_of[w]; ++c) {
      for (const ChoicesInRows& of_cluster : rows) {
        if (flavors[c].empty()) flavors[c] = FlavorsText(of_cluster.requests[row + c]);
      }
    }
    dispatched.fits.push_back(BestOfChoices(std::span(fits).subspan(row, rows_of[w]), flavors));
    if (auto tried = TryFewerInEach(w, asked, read, *backend, dispatched.fits.back()); !tried) {
      return tl::unexpected(tried.error());
    }
    SortFits(dispatched.clusters, dispatched.fits.back());
  }
  ReportDeviceFault(**backend);
  return dispatched;
}

}  // namespace espalier
