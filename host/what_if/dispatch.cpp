#include "host/what_if/dispatch.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/engine/compiled_requests.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/model/by_name.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

// Bytes kept, and written to a message, for a workload in a cluster and for each pod set there.
constexpr std::int64_t kBytesOfFit = 256;
constexpr std::int64_t kBytesOfPodSetFit = 192;
// Bytes that a pod set takes while it is decided: its job, result and answer. Copies of its name
// come on top.
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
Chunk FirstChunk(std::span<const RequestOnState> asked) {
  Chunk chunk;
  std::size_t pod_sets = 0;
  for (const RequestOnState& one : asked) {
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

// A pod set that was placed.
struct PlacedPodSet {
  const std::string& name;
  const std::string& flavor;
  const FlavorState& state;       // of the flavor
  const RequestVector& pod;       // what one pod takes
  std::vector<LeafShare> shares;  // its own, with pods alone
};

// The amounts that the pod sets of a workload take of leaves, and what is left there.
class LeftOver {
 public:
  LeftOver(std::span<const PlacedPodSet> pod_sets, bool simulate_empty)
      : simulate_empty_(simulate_empty) {
    if (pod_sets.size() == 1) return;  // it is alone on its leaves
    for (const PlacedPodSet& placed : pod_sets) {
      for (const LeafShare& share : placed.shares) {
        Resources& used = used_[{&placed.state, share.leaf.value}];
        for (std::size_t i = 0; i < placed.pod.names.size(); ++i) {
          Amount& amount = used[placed.pod.names[i]];
          amount = SaturatingAdd(amount, SaturatingMultiply(placed.pod.amounts[i], share.pods));
        }
      }
    }
  }

  // Returns how many pods more a leaf has room for.
  std::int64_t PodsOn(const LeafShare& share, const PlacedPodSet& placed) const {
    const FlavorState& flavor = placed.state;
    const auto& amounts = simulate_empty_ ? flavor.free() : flavor.remaining();
    const auto used = used_.find({&flavor, share.leaf.value});
    std::int64_t room = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < placed.pod.names.size(); ++i) {
      const Amount of_pod = placed.pod.amounts[i];
      if (of_pod <= 0) continue;
      if (placed.pod.columns[i] < 0) return 0;
      const auto at = static_cast<std::size_t>(placed.pod.columns[i] * flavor.snapshot().stride() +
                                               share.leaf.value);
      const Amount taken = used == used_.end() ? SaturatingMultiply(of_pod, share.pods)
                                               : *used->second.Find(placed.pod.names[i]);
      const Amount left = SaturatingSubtract(amounts[at], taken);
      room = std::min(room, std::max(left, Amount{0}) / of_pod);
    }
    return room;
  }

 private:
  const bool simulate_empty_;
  std::map<std::pair<const FlavorState*, std::int32_t>, Resources> used_;  // by leaf
};

void SetLevel(std::span<const LeafShare> shares, const FlavorSnapshot& snapshot, PodSetFit& fit) {
  std::int32_t level = snapshot.tree().lowest();
  for (const LeafShare& share : shares) {
    while (level >= 0 &&
           snapshot.Ancestor(share.leaf, level) != snapshot.Ancestor(shares.front().leaf, level)) {
      --level;
    }
  }
  fit.height = snapshot.tree().lowest() - level;
  if (level >= 0) fit.level = snapshot.levels()[static_cast<std::size_t>(level)];
}

ClusterFit FitOf(std::span<const PlacedPodSet> pod_sets, bool simulate_empty) {
  ClusterFit fit{0, FitStatus::kFits, "", {}};
  const LeftOver left_over(pod_sets, simulate_empty);
  for (const PlacedPodSet& placed : pod_sets) {
    PodSetFit& of_pod_set =
        fit.pod_sets.emplace_back(PodSetFit{placed.name, "", 0, 0, 0, placed.flavor});
    SetLevel(placed.shares, placed.state.snapshot(), of_pod_set);
    of_pod_set.domains = std::ssize(placed.shares);
    for (const LeafShare& share : placed.shares) {
      of_pod_set.left_over += left_over.PodsOn(share, placed);
    }
  }
  return fit;
}

ClusterFit DoesNotFit(const std::string& pod_set, const std::string& reason) {
  return {0, FitStatus::kDoesNotFit, fmt::format("pod set {}: {}", pod_set, reason), {}};
}

// The fit of a workload that was answered with names.
ClusterFit FitOf(const RequestOnState& asked, const WorkloadAnswer& answer) {
  if (const PodSetAnswer* failed = answer.FirstFailure()) {
    return DoesNotFit(failed->name, failed->failure->reason);
  }
  const auto pod_sets = ByName(asked.request->pod_sets);
  std::vector<RequestVector> pods;  // what one pod takes, by placed pod set
  pods.reserve(answer.pod_sets.size());
  std::vector<PlacedPodSet> placed;
  for (const PodSetAnswer& of_pod_set : answer.pod_sets) {
    const PodSetRequest* pod_set = FindOrNull(pod_sets, of_pod_set.name);
    const FlavorState* flavor = asked.state->Find(of_pod_set.flavor);
    if (!of_pod_set.assignment || pod_set == nullptr || flavor == nullptr) continue;
    pods.push_back(BindRequests(pod_set->requests, flavor->snapshot()));
    placed.push_back({of_pod_set.name, of_pod_set.flavor, *flavor, pods.back(),
                      ToShares(*of_pod_set.assignment, flavor->snapshot())});
  }
  return FitOf(placed, asked.request->simulate_empty);
}

// The fit of a gang, in the order of its pod sets.
ClusterFit FitOf(const GangBatch& batch, std::span<const GangRow> gangs, const GangAnswers& answers,
                 std::size_t gang) {
  const ResolvedGangShape& shape = batch.ShapeOf(gangs[gang]);
  const GangShape& specification = shape.specification;
  const bool leads = specification.leader_first;
  if (answers.status[gang] != PlacementStatus::kPlaced) {
    return DoesNotFit(leads ? specification.leader->name : specification.workers.name,
                      batch.Describe(gangs, answers, gang).reason);
  }
  const FlavorState& flavor = *batch.StateOf(gangs[gang]);
  const auto placed = [&](const PodSetRequest& pod_set, bool is_leader) {
    PlacedPodSet result{pod_set.name,
                        pod_set.flavor,
                        flavor,
                        is_leader ? shape.resolved.shape->leader : shape.resolved.shape->workers,
                        {}};
    for (const LeafShare& share : answers.SharesOf(gang)) {
      const Count pods = is_leader ? share.leaders : share.pods;
      if (pods > 0) result.shares.push_back({share.leaf, 0, pods});
    }
    return result;
  };
  if (!specification.leader) {
    const PlacedPodSet alone = placed(specification.workers, false);
    return FitOf({&alone, 1}, specification.simulate_empty);
  }
  const std::array<PlacedPodSet, 2> both = {
      placed(leads ? *specification.leader : specification.workers, leads),
      placed(leads ? specification.workers : *specification.leader, !leads)};
  return FitOf(both, specification.simulate_empty);
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
  std::vector<RequestOnState> requests;
  std::vector<ClusterFit*> fits;
};

// Sets the fits of a cluster that are known, and collects the others.
void Collect(const DispatchCluster& cluster, std::size_t position,
             std::vector<std::vector<ClusterFit>>& fits, OpenFits& flat, OpenFits& trees) {
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
      OpenFits& open = cluster.requests[w].tree ? trees : flat;
      open.requests.push_back({&cluster.requests[w], cluster.state});
      open.fits.push_back(&fit);
    }
  }
}

// Sets fits, which keep their clusters.
void Set(ClusterFit fit, WorkBudget& budget, ClusterFit& into) {
  fit.cluster = into.cluster;
  budget.Charge(static_cast<std::int64_t>(fit.reason.size()));
  into = std::move(fit);
}

// Decides requests without trees, as integers as far as they are gangs.
void DecideFlat(std::span<const RequestOnState> requests, std::span<ClusterFit* const> fits,
                const Engine& engine) {
  WorkBudget& budget = engine.budget();
  CompiledRequests compiled = Compile(requests, engine.gates(), budget);
  GangBatch batch(compiled.states, std::move(compiled.shapes), compiled.stepped, engine.gates(),
                  budget);
  GangAnswers answers;
  batch.Nominate(engine.backend(), compiled.gangs, answers);
  auto stepped = answers.stepped.begin();
  for (std::size_t i = 0; i < answers.status.size() && budget.MayContinue(); ++i) {
    const bool is_stepped = compiled.gangs[i].is_stepped();
    Set(is_stepped ? FitOf(requests[i], *stepped++) : FitOf(batch, compiled.gangs, answers, i),
        budget, *fits[i]);
  }
}

void DecideTrees(std::span<const RequestOnState> requests, std::span<ClusterFit* const> fits,
                 const Engine& engine) {
  const std::vector<WorkloadAnswer> answers = engine.Nominate(requests);
  for (std::size_t i = 0; i < answers.size() && engine.budget().MayContinue(); ++i) {
    Set(FitOf(requests[i], answers[i]), engine.budget(), *fits[i]);
  }
}

// `decide` is DecideFlat or DecideTrees.
template <class DecideChunk>
void Decide(const OpenFits& open, const DecideChunk& decide, const Engine& engine) {
  WorkBudget& budget = engine.budget();
  for (std::size_t first = 0; first < open.requests.size() && !budget.stopped();) {
    const auto rest = std::span<const RequestOnState>(open.requests).subspan(first);
    const Chunk chunk = FirstChunk(rest);
    if (!budget.Charge(chunk.kept_bytes + chunk.open_bytes)) break;
    decide(rest.first(chunk.requests), std::span(open.fits).subspan(first), engine);
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
    OpenFits flat;
    OpenFits trees;
    for (std::size_t c = first; c < clusters.size(); ++c) {
      if (clusters[c].gates != clusters[first].gates) continue;
      is_decided[c] = true;
      Collect(clusters[c], c, fits, flat, trees);
    }
    const Engine engine(backend, clusters[first].gates, budget);
    Decide(flat, DecideFlat, engine);
    Decide(trees, DecideTrees, engine);
  }
  std::vector<std::string> names;
  for (const DispatchCluster& cluster : clusters) names.push_back(cluster.name);
  for (std::vector<ClusterFit>& of_workload : fits) SortFits(names, of_workload);
  return fits;
}

}  // namespace espalier
