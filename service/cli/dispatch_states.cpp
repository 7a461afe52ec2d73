// espalier place --state: which of several states of a server can hold the pending workloads?
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "host/kueue/placement_plan.hpp"
#include "host/model/excerpt.hpp"
#include "service/cli/dispatch_clusters.hpp"
#include "service/client/remote_engine.hpp"

namespace espalier {
namespace {

// A server's answer has one entry per pod set, in spec order.
void NamePodSets(const WorkloadRequest& request, ClusterFit& fit) {
  const std::size_t known = std::min(fit.pod_sets.size(), request.pod_sets.size());
  for (std::size_t i = 0; i < known; ++i) fit.pod_sets[i].name = request.pod_sets[i].name;
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
  const auto plan = PlanPlacement(read->cluster, {.gates = options.gates,
                                                  .only = only,
                                                  .simulate_empty = options.simulate_empty,
                                                  .guess_flavor = options.guess_flavor});
  if (!plan) return tl::unexpected(plan.error());
  Dispatched dispatched{states, {}, {}};
  std::vector<WorkloadRequest> requests;
  std::vector<std::size_t> asked;  // workloads that the requests are of
  for (const PlannedWorkload& planned : plan->workloads) {
    dispatched.workloads.push_back(read->cluster.workloads[planned.index].key);
    std::vector<ClusterFit>& fits = dispatched.fits.emplace_back();
    if (const auto known = KnownOf(planned)) {
      for (std::size_t i = 0; i < states.size(); ++i) {
        fits.push_back({i, known->status, known->reason, {}});
      }
    } else {
      requests.push_back(std::get<WorkloadRequest>(planned.plan));
      asked.push_back(dispatched.fits.size() - 1);
    }
  }
  auto remote = RemoteEngine::Connect(options.connect);
  if (!remote) return tl::unexpected(remote.error());
  auto answered = remote->Dispatch(states, requests, options.gates);
  if (!answered) return tl::unexpected(answered.error());
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (ClusterFit& fit : (*answered)[i]) NamePodSets(requests[i], fit);
    dispatched.fits[asked[i]] = std::move((*answered)[i]);
  }
  return dispatched;
}

}  // namespace espalier
