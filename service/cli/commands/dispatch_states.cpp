// espalier place --state: which of several states of a server can hold the pending workloads?
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/model/excerpt.hpp"
#include "service/cli/commands/dispatch_clusters.hpp"
#include "service/client/remote_engine.hpp"

namespace espalier {
namespace {

// The levels of a flavor's topology below one of them, or all of them.
std::int32_t HeightOf(const std::string& level, const Topology* topology) {
  if (topology == nullptr) return 0;
  const auto found = std::ranges::find(topology->levels, level);
  const auto from = found == topology->levels.end() ? topology->levels.begin() : found + 1;
  return static_cast<std::int32_t>(topology->levels.end() - from);
}

// A server's answer has one entry per pod set, in spec order.
void NamePodSets(const WorkloadRequest& request, const ClusterLookup& lookup, ClusterFit& fit) {
  const std::size_t known = std::min(fit.pod_sets.size(), request.pod_sets.size());
  for (std::size_t i = 0; i < known; ++i) {
    fit.pod_sets[i].name = request.pod_sets[i].name;
    fit.pod_sets[i].flavor = request.pod_sets[i].flavor;
    fit.pod_sets[i].height =
        HeightOf(fit.pod_sets[i].level, lookup.TopologyOf(request.pod_sets[i].flavor));
  }
}

// Splits NAME,NAME,..., also where the last name is empty, and orders the names, which decide
// between states that are equally good.
std::vector<std::string> OrderedNames(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace

Result<Dispatched> DispatchStates(const DispatchOptions& options) {
  const std::vector<std::string> states = OrderedNames(options.states);
  if (std::ranges::find(states, "") != states.end()) {
    return BadInput(fmt::format("--state: {} has a name without letters", Excerpt(options.states)));
  }
  Result<ClusterRead> read = ReadInput(options.input);
  if (!read) return tl::unexpected(read.error());
  std::optional<ObjectKey> only;
  if (!options.workload.empty()) {
    auto key = FindWorkload(read->cluster, options.workload);
    if (!key) return tl::unexpected(key.error());
    only = *std::move(key);
  }
  const Result<FeatureGates> gates = GatesOf(read->cluster, options.input.feature_gates);
  if (!gates) return tl::unexpected(gates.error());
  const auto plan = PlanPlacement(read->cluster, {.gates = *gates,
                                                  .only = only,
                                                  .simulate_empty = options.simulate_empty,
                                                  .guess_flavor = options.guess_flavor});
  if (!plan) return tl::unexpected(plan.error());
  Dispatched dispatched{states, {}, {}};
  std::vector<WorkloadRequest> requests;
  std::vector<std::size_t> asked;               // workloads that the requests are of, each in a row
  std::vector<std::optional<FewerPods>> fewer;  // by workload, as PlannedWorkload's
  for (const PlannedWorkload& planned : plan->workloads) {
    dispatched.workloads.push_back(read->cluster.workloads[planned.index].key);
    std::vector<ClusterFit>& fits = dispatched.fits.emplace_back();
    fewer.push_back(planned.fewer);
    if (const auto known = KnownOf(planned)) {
      for (std::size_t i = 0; i < states.size(); ++i) {
        fits.push_back({i, known->status, known->reason, {}});
      }
    } else {
      for (const WorkloadRequest* request : planned.Choices()) {
        requests.push_back(*request);
        asked.push_back(dispatched.fits.size() - 1);
      }
    }
  }
  auto remote = RemoteEngine::Connect(options.connect, kCallTimeout, options.tls);
  if (!remote) return tl::unexpected(remote.error());
  auto answered = remote->Dispatch(states, requests, *gates);
  if (!answered) return tl::unexpected(answered.error());
  const ClusterLookup lookup(read->cluster);
  for (std::size_t i = 0; i < asked.size();) {
    std::vector<std::string> flavors;
    const std::size_t first = i;
    std::vector<const WorkloadRequest*> choices;
    for (; i < asked.size() && asked[i] == asked[first]; ++i) {
      choices.push_back(&requests[i]);
      for (ClusterFit& fit : (*answered)[i]) NamePodSets(requests[i], lookup, fit);
      flavors.push_back(FlavorsText(requests[i]));
    }
    const auto of_workload = std::span(*answered).subspan(first, i - first);
    std::vector<ClusterFit>& fits = dispatched.fits[asked[first]];
    fits = BestOfChoices(of_workload, flavors);
    for (ClusterFit& fit : fits) {
      if (!fewer[asked[first]]) break;
      const FitsInOne ask = [&](const std::vector<WorkloadRequest>& of_fewer) {
        auto found = remote->Dispatch({&states[fit.cluster], 1}, of_fewer, *gates);
        for (std::size_t c = 0; found && c < of_fewer.size(); ++c) {
          NamePodSets(of_fewer[c], lookup, (*found)[c].front());
        }
        return found;
      };
      if (auto tried = TryFewer(*fewer[asked[first]], choices, ask, fit); !tried) {
        return tl::unexpected(tried.error());
      }
    }
    SortFits(states, fits);
  }
  return dispatched;
}

}  // namespace espalier
