#include "host/what_if/dispatch.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/model/by_name.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

// What is kept, and written to a message, of a workload in a cluster and of each pod set there.
constexpr std::int64_t kBytesOfFit = 256;
constexpr std::int64_t kBytesOfPodSetFit = 192;
// What a pod set takes while it is decided: its job, result and answer. Copies of its name come on
// top.
constexpr std::int64_t kBytesOfOpenPodSet = 1280;
constexpr std::int64_t kNamesOfOpenPodSet = 3;
// Bounds the pod sets that are decided together; a request with more is decided alone.
constexpr std::size_t kMostOpenPodSets = std::size_t{1} << 14;

// Requests that are decided together, and what they take.
struct Chunk {
  std::size_t requests = 0;
  std::int64_t kept_bytes = 0;  // of the fits
  std::int64_t open_bytes = 0;  // until the fits are known
};

// Returns the first of `asked`, at least one, that are decided together. `asked` is not empty.
Chunk FirstChunk(std::span<const StateRequest> asked) {
  Chunk chunk;
  std::size_t pod_sets = 0;
  for (const StateRequest& one : asked) {
    pod_sets += one.request->pod_sets.size();
    if (chunk.requests > 0 && pod_sets > kMostOpenPodSets) break;
    ++chunk.requests;
    for (const PodSetRequest& pod_set : one.request->pod_sets) {
      const auto name = static_cast<std::int64_t>(pod_set.name.size());
      chunk.kept_bytes += kBytesOfPodSetFit + name;
      chunk.open_bytes += kBytesOfOpenPodSet + kNamesOfOpenPodSet * name;
    }
  }
  return chunk;
}

// Judges one answer by the state that it was given on.
class Judge {
 public:
  Judge(const ClusterState& state, const WorkloadRequest& request, const WorkloadAnswer& answer)
      : state_(state), request_(request), pod_sets_(ByName(request.pod_sets)) {
    for (const PodSetAnswer& placed : answer.pod_sets) NoteUsage(placed);
  }

  PodSetFit Fit(const PodSetAnswer& placed) const {
    PodSetFit fit{placed.name, "", 0, 0, 0, placed.flavor};
    const PodSetRequest* pod_set = FindOrNull(pod_sets_, placed.name);
    const FlavorState* flavor = state_.Find(placed.flavor);
    const auto leaves = leaves_.find(placed.name);
    if (pod_set == nullptr || flavor == nullptr || leaves == leaves_.end()) return fit;
    SetLevel(leaves->second, flavor->snapshot(), fit);
    fit.domains = static_cast<std::int64_t>(leaves->second.size());
    const RequestVector pod = BindRequests(pod_set->requests, flavor->snapshot());
    for (const LeafId leaf : leaves->second) fit.left_over += RoomOn(*flavor, leaf, pod);
    return fit;
  }

 private:
  void NoteUsage(const PodSetAnswer& placed) {
    const PodSetRequest* pod_set = FindOrNull(pod_sets_, placed.name);
    const FlavorState* flavor = state_.Find(placed.flavor);
    if (!placed.assignment || pod_set == nullptr || flavor == nullptr) return;
    std::vector<LeafId>& leaves = leaves_[placed.name];
    for (const TopologyDomainAssignment& domain : placed.assignment->domains) {
      const LeafId leaf = flavor->snapshot().FindLeaf(ids_.Of(domain.values));
      if (!leaf.valid()) continue;
      leaves.push_back(leaf);
      AddTo(used_[{flavor, leaf.value}], UsageOfPods(pod_set->requests, domain.count));
    }
  }

  static void SetLevel(const std::vector<LeafId>& leaves, const FlavorSnapshot& snapshot,
                       PodSetFit& fit) {
    std::int32_t level = snapshot.tree().lowest();
    for (const LeafId leaf : leaves) {
      while (level >= 0 &&
             snapshot.Ancestor(leaf, level) != snapshot.Ancestor(leaves.front(), level)) {
        --level;
      }
    }
    fit.height = snapshot.tree().lowest() - level;
    if (level >= 0) fit.level = snapshot.levels()[static_cast<std::size_t>(level)];
  }

  // Pods that a leaf has room for beside the workload.
  std::int64_t RoomOn(const FlavorState& flavor, LeafId leaf, const RequestVector& pod) const {
    const auto& amounts = request_.simulate_empty ? flavor.free() : flavor.remaining();
    const auto used = used_.find({&flavor, leaf.value});
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < pod.names.size(); ++i) {
      if (pod.amounts[i] <= 0) continue;
      if (pod.columns[i] < 0) return 0;
      const auto at =
          static_cast<std::size_t>(pod.columns[i] * flavor.snapshot().stride() + leaf.value);
      const Amount* taken = used == used_.end() ? nullptr : used->second.Find(pod.names[i]);
      const Amount left = SaturatingSubtract(amounts[at], taken == nullptr ? 0 : *taken);
      room = std::min(room, std::max(left, Amount{0}) / pod.amounts[i]);
    }
    return room;
  }

  const ClusterState& state_;
  const WorkloadRequest& request_;
  std::unordered_map<std::string_view, const PodSetRequest*> pod_sets_;  // by name
  DomainIds ids_;
  std::map<std::string, std::vector<LeafId>> leaves_;                      // by pod set
  std::map<std::pair<const FlavorState*, std::int32_t>, Resources> used_;  // by leaf
};

ClusterFit FitOf(const ClusterState& state, const WorkloadRequest& request,
                 const WorkloadAnswer& answer) {
  if (const PodSetAnswer* failed = answer.FirstFailure()) {
    return {0,
            FitStatus::kDoesNotFit,
            fmt::format("pod set {}: {}", failed->name, failed->failure->reason),
            {}};
  }
  ClusterFit fit{0, FitStatus::kFits, "", {}};
  const Judge judge(state, request, answer);
  for (const PodSetAnswer& placed : answer.pod_sets) fit.pod_sets.push_back(judge.Fit(placed));
  return fit;
}

// Less is better.
auto Rank(const ClusterFit& fit) {
  std::int32_t height = 0;
  std::int64_t domains = 0;
  std::int64_t left_over = 0;
  for (const PodSetFit& pod_set : fit.pod_sets) {
    height = std::max(height, pod_set.height);
    domains += pod_set.domains;
    left_over += pod_set.left_over;
  }
  return std::tuple(fit.status, fit.left_out, height, domains, left_over);
}

// Fits that the engine decides, by the same gates.
struct OpenFits {
  std::vector<StateRequest> requests;
  std::vector<ClusterFit*> fits;
};

// Sets the fits of a cluster that are known, and collects the others.
void Collect(const DispatchCluster& cluster, std::size_t position,
             std::vector<std::vector<ClusterFit>>& fits, OpenFits& open) {
  auto known = cluster.known.begin();
  for (std::size_t w = 0; w < fits.size(); ++w) {
    ClusterFit& fit = fits[w][position];
    fit.cluster = position;
    if (cluster.state == nullptr) {
      fit.reason = "nothing is known of its state";
    } else if (known != cluster.known.end() && known->workload == w) {
      fit.status = known->status;
      fit.reason = known->reason;
      ++known;
    } else {
      open.requests.push_back({&cluster.requests[w], cluster.state});
      open.fits.push_back(&fit);
    }
  }
}

void Decide(const OpenFits& open, const Engine& engine) {
  WorkBudget& budget = engine.budget();
  for (std::size_t first = 0; first < open.requests.size() && !budget.stopped();) {
    const auto rest = std::span<const StateRequest>(open.requests).subspan(first);
    const Chunk chunk = FirstChunk(rest);
    if (!budget.Charge(chunk.kept_bytes + chunk.open_bytes)) break;
    const std::vector<WorkloadAnswer> answers = engine.Nominate(rest.first(chunk.requests));
    for (std::size_t i = 0; i < answers.size() && budget.Pause(); ++i) {
      ClusterFit& fit = *open.fits[first + i];
      const std::size_t cluster = fit.cluster;
      fit = FitOf(*rest[i].state, *rest[i].request, answers[i]);
      fit.cluster = cluster;
      budget.Charge(static_cast<std::int64_t>(fit.reason.size()));
    }
    budget.Release(chunk.open_bytes);
    first += chunk.requests;
  }
}

}  // namespace

void SortFits(std::span<const std::string> names, std::vector<ClusterFit>& fits) {
  std::ranges::sort(fits, [&](const ClusterFit& a, const ClusterFit& b) {
    const auto left = Rank(a);
    const auto right = Rank(b);
    return left != right ? left < right : names[a.cluster] < names[b.cluster];
  });
}

std::vector<std::vector<ClusterFit>> Dispatch(std::span<const DispatchCluster> clusters,
                                              std::size_t workloads,
                                              const std::shared_ptr<Backend>& backend,
                                              WorkBudget& budget) {
  if (!budget.Charge(static_cast<std::int64_t>(workloads * clusters.size()) * kBytesOfFit)) {
    return {};
  }
  std::vector<std::vector<ClusterFit>> fits(workloads);
  for (std::vector<ClusterFit>& of_workload : fits) of_workload.resize(clusters.size());
  std::vector<bool> is_decided(clusters.size());
  for (std::size_t first = 0; first < clusters.size(); ++first) {
    if (is_decided[first]) continue;
    OpenFits open;
    for (std::size_t c = first; c < clusters.size(); ++c) {
      if (clusters[c].gates != clusters[first].gates) continue;
      is_decided[c] = true;
      Collect(clusters[c], c, fits, open);
    }
    Decide(open, Engine(backend, clusters[first].gates, budget));
  }
  std::vector<std::string> names;
  for (const DispatchCluster& cluster : clusters) names.push_back(cluster.name);
  for (std::vector<ClusterFit>& of_workload : fits) SortFits(names, of_workload);
  return fits;
}

}  // namespace espalier
