#include "host/kueue/certificate.hpp"

#include <algorithm>
#include <compare>
#include <string_view>
#include <tuple>
#include <utility>

#include "host/engine/backend.hpp"
#include "host/engine/leaf_input.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/kueue/cluster_input.hpp"
#include "host/kueue/preemption.hpp"
#include "host/kueue/workload_status.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {
namespace {

// What Kubernetes puts on nodes that are cordoned or in trouble.
constexpr std::string_view kNodeTroubleTaints = "node.kubernetes.io/";

bool Fits(const WorkloadAnswer& answer) { return answer.FirstFailure() == nullptr; }

// The job at which a request fails; absent: it is refused before a job is made, or there is no
// leaf.
std::optional<PlacementJob> FailingJob(const Engine& engine, const ClusterState& state,
                                       const WorkloadRequest& request) {
  if (request.tree) return std::nullopt;  // no one job decides it
  WorkloadPlacement placement(request, state, engine.gates(), engine.budget());
  while (const PlacementJob* next = placement.NextJob()) {
    PlacementJob job = *next;
    PlacementResult result;
    engine.backend().Evaluate({&job, 1}, {&result, 1});
    if (result.status != PlacementStatus::kPlaced) {
      if (job.state->snapshot().leaf_count() == 0) return std::nullopt;
      return job;
    }
    placement.Accept(result);
  }
  return std::nullopt;
}

// Fills in what a domain, or a whole flavor, lacks.
class MissReader {
 public:
  MissReader(const PlacementJob& job, const Backend& backend, NearMiss& miss)
      : job_(job), tree_(job.state->snapshot().tree()), miss_(miss) {
    backend.CountDomains(job, storage_);
    counts_ = storage_.View();
    assumed_.Set(job.assumed);
    input_ = MakeLeafInput(job, assumed_);
  }

  void Read() {
    const PlacementQuery& query = job_.query;
    const bool whole = !query.required;
    const FlavorSnapshot& snapshot = job_.state->snapshot();
    DomainRange domains{tree_.LevelBegin(query.level), tree_.LevelEnd(query.level)};
    if (!whole) {
      const std::int32_t best = Best(domains);
      miss_.level = snapshot.levels()[static_cast<std::size_t>(query.level)];
      miss_.domain = snapshot.Path(DomainId(best));
      domains = {best, best + 1};
    }
    miss_.pods = query.pods;
    for (std::int32_t d = domains.begin; d < domains.end; ++d) {
      miss_.fit += Slices(d) * query.slice.size;
    }
    ReadLeaves(Leaves(domains));
  }

 private:
  Count Slices(std::int32_t domain) const { return counts_.slices_with_leader[domain]; }

  // The domain with the most slices, then pods, then pods that its scarcest resource is enough for;
  // the first of several.
  std::int32_t Best(DomainRange domains) const {
    std::vector<std::int32_t> equal;  // with the most slices and pods
    for (std::int32_t d = domains.begin; d < domains.end; ++d) {
      const auto order =
          equal.empty() ? std::strong_ordering::greater : OfferOf(d) <=> OfferOf(equal.front());
      if (order > 0) equal.clear();
      if (order >= 0) equal.push_back(d);
    }
    return equal.size() == 1 ? equal.front() : BestByScarcest(equal);
  }

  std::int32_t BestByScarcest(const std::vector<std::int32_t>& domains) const {
    std::int32_t best = domains.front();
    Count most = -1;
    std::int32_t scarcest = 0;  // of the best
    for (const std::int32_t d : domains) {
      if (most == job_.query.pods) break;  // none has more
      const DomainRange leaves = Leaves({d, d + 1});
      // Alike domains lack the same, so one resource tells that most of them are no better.
      if (most >= 0 && PodsByOne(leaves, scarcest) <= most) continue;
      Count pods = job_.query.pods;
      std::int32_t limit = 0;
      for (std::int32_t i = 0; i < input_.workers.size; ++i) {
        const Count by_one = PodsByOne(leaves, i);
        if (by_one < pods) limit = i;
        pods = std::min(pods, by_one);
      }
      if (pods <= most) continue;
      best = d;
      most = pods;
      scarcest = limit;
    }
    return best;
  }

  std::pair<Count, Count> OfferOf(std::int32_t domain) const {
    return {Slices(domain), counts_.pods[domain]};
  }

  // The leaves of some domains of the request's level.
  DomainRange Leaves(DomainRange domains) const {
    return LeavesBelow(tree_, domains, job_.query.level);
  }

  // The pods on some leaves if one entry of the request were the only limit, at most as many on
  // each as the job has.
  Count PodsByOne(DomainRange leaves, std::int32_t only) const {
    Count pods = 0;
    for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      if (!Admits(input_, leaf)) continue;
      const RemainingOnLeaf remaining{input_.capacity, input_.workers, input_.assumed.Find(leaf),
                                      leaf};
      pods += std::min(FitOne(input_.workers.amount[only], remaining(only)), job_.query.pods);
    }
    return pods;
  }

  void ReadLeaves(DomainRange leaves) {
    const std::int32_t first_leaf = tree_.LevelBegin(tree_.lowest());
    miss_.nodes = leaves.size();
    for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      miss_.nodes_with_room += static_cast<std::int64_t>(counts_.pods[first_leaf + leaf] > 0);
      miss_.nodes_not_matching += static_cast<std::int64_t>(!Matches(input_, leaf));
    }
    if (miss_.nodes_not_matching == miss_.nodes) return;  // it is not for resources
    const RequestVector& workers = job_.shape->workers;
    for (std::size_t i = 0; i < workers.names.size(); ++i) {
      const Count enough = PodsByOne(leaves, static_cast<std::int32_t>(i));
      if (enough >= miss_.pods) continue;
      miss_.binding.push_back(
          {workers.names[i], enough, SaturatingMultiply(miss_.pods - enough, workers.amounts[i])});
    }
    std::ranges::stable_sort(miss_.binding, {}, &BindingResource::pods);
  }

  const PlacementJob& job_;
  TreeView tree_;
  NearMiss& miss_;
  CountsStorage storage_;
  CountsView counts_;  // of storage_
  FlatAssumed assumed_;
  LeafInput input_;  // of assumed_
};

NearMiss ReadNearMiss(const PlacementJob& job, const Backend& backend, const PodSetAnswer& failed) {
  NearMiss miss;
  miss.pod_set = failed.name;
  miss.flavor = failed.flavor;
  MissReader(job, backend, miss).Read();
  return miss;
}

class Explainer {
 public:
  Explainer(std::span<const RunningWorkload> running, const WorkloadRequest& request,
            const Engine& engine)
      : running_(running), request_(request), engine_(engine) {}

  Result<Certificate> Run(const ClusterState& state, const ClusterStateInput& input) {
    found_.answer = engine_.NominateOne(state, request_);
    found_.fits = Fits(found_.answer);
    if (found_.fits) return std::move(found_);
    const std::optional<PlacementJob> failing = FailingJob(engine_, state, request_);
    const bool is_wrong =
        request_.tree ? found_.answer.tree->status == NestedStatus::kBadRequest : !failing;
    if (is_wrong) {
      found_.never = true;
      found_.empty = found_.answer;
      return std::move(found_);
    }
    TryFewerPods(state);
    TryCoarserLevels(state);
    if (const auto tried = TryVictims(state); !tried) return tl::unexpected(tried.error());
    if (const auto tried = TryRepairs(input); !tried) return tl::unexpected(tried.error());
    if (const auto tried = TryEmpty(state, input); !tried) return tl::unexpected(tried.error());
    if (!found_.near_miss && failing) {
      found_.near_miss = ReadNearMiss(*failing, engine_.backend(), *found_.answer.FirstFailure());
    }
    return std::move(found_);
  }

 private:
  // Where nothing runs. What admitted workloads use need not be taken out of the state (R5.1).
  Result<void> TryEmpty(const ClusterState& state, const ClusterStateInput& input) {
    WorkloadRequest request = request_;
    if (input.non_tas_usage.empty()) {
      request.simulate_empty = true;
      JudgeEmpty(state, request);
      return {};
    }
    ClusterStateInput unused = input;
    unused.tas_usage.clear();
    unused.non_tas_usage.clear();
    const Result<ClusterState> empty = ClusterState::Build(unused, engine_.budget());
    if (!empty) return tl::unexpected(empty.error());
    JudgeEmpty(*empty, request);
    return {};
  }

  void JudgeEmpty(const ClusterState& state, const WorkloadRequest& request) {
    found_.empty = engine_.NominateOne(state, request);
    found_.never = !Fits(found_.empty);
    if (const auto& tree = found_.empty.tree) {
      found_.undecided = found_.never && tree->status != NestedStatus::kNever;
      found_.never = found_.never && !found_.undecided;
    }
    if (!found_.never) return;
    if (const auto failing = FailingJob(engine_, state, request)) {
      found_.near_miss = ReadNearMiss(*failing, engine_.backend(), *found_.empty.FirstFailure());
    }
  }

  // Of a workload of one pod set that is placed from nothing.
  PodSetRequest* OnlyPodSet(WorkloadRequest& request) const {
    if (request.pod_sets.size() != 1 || request.replacement || request.tree) return nullptr;
    return request.pod_sets.front().previous_assignment ? nullptr : &request.pod_sets.front();
  }

  // The more pods, the less do they fit: a search by halves, whose answer is tried.
  void TryFewerPods(const ClusterState& state) {
    WorkloadRequest request = request_;
    PodSetRequest* pod_set = OnlyPodSet(request);
    if (pod_set == nullptr) return;
    std::int32_t fits = 0;
    std::int32_t too_many = pod_set->count;
    while (too_many - fits > 1) {
      pod_set->count = fits + (too_many - fits) / 2;
      (Fits(engine_.NominateOne(state, request)) ? fits : too_many) = pod_set->count;
    }
    const auto slices = SliceConstraints(pod_set->topology_request);
    const std::int32_t size = slices.empty() ? 1 : std::max(slices.front().size, 1);
    found_.changes.fewer_pods = fits / size * size;  // the others have no place (R6.9)
  }

  void TryCoarserLevels(const ClusterState& state) {
    WorkloadRequest request = request_;
    PodSetRequest* pod_set = OnlyPodSet(request);
    if (pod_set == nullptr || !pod_set->topology_request || !pod_set->topology_request->required) {
      return;
    }
    const FlavorState* flavor = state.Find(pod_set->flavor);
    TopologyRequest& topology = *pod_set->topology_request;
    for (std::int32_t level = flavor->snapshot().FindLevel(*topology.required); level-- > 0;) {
      topology.required = flavor->snapshot().levels()[static_cast<std::size_t>(level)];
      if (!Fits(engine_.NominateOne(state, request))) continue;
      found_.changes.coarser_level = *topology.required;
      return;
    }
    if (!SliceConstraints(topology).empty()) return;  // they are tied to the level
    topology = TopologyRequest{.unconstrained = true};
    found_.changes.anywhere = Fits(engine_.NominateOne(state, request));
  }

  Result<void> TryVictims(const ClusterState& state) {
    std::vector<Victim> victims;
    for (const RunningWorkload& workload : running_) victims.push_back(workload.victim);
    const auto fits = FitsWithoutEach(engine_, state, request_, victims);
    if (!fits) return tl::unexpected(fits.error());
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if ((*fits)[i]) found_.changes.gone.push_back(running_[i].key);
    }
    return {};
  }

  // On a cluster with every node repaired, as if something held each of those; then each is freed.
  Result<void> TryRepairs(const ClusterStateInput& given) {
    const auto is_well = [](const Node& node) { return node.ready && !node.unschedulable; };
    if (std::ranges::all_of(given.nodes, is_well)) return {};  // spares the copy
    ClusterStateInput input = given;
    std::vector<std::size_t> repaired;
    for (std::size_t i = 0; i < input.nodes.size(); ++i) {
      Node& node = input.nodes[i];
      if (is_well(node)) continue;
      node.ready = true;
      node.unschedulable = false;
      std::erase_if(node.taints,
                    [](const Taint& taint) { return taint.key.starts_with(kNodeTroubleTaints); });
      repaired.push_back(i);
    }
    Result<ClusterState> state = ClusterState::Build(input, engine_.budget());
    if (!state) return tl::unexpected(state.error());
    std::vector<Victim> held;
    for (const std::size_t i : repaired) {
      Victim& node = held.emplace_back();
      node.name = input.nodes[i].name;
      for (const std::string_view name : state->FlavorNames()) {
        const FlavorSnapshot& snapshot = state->Find(name)->snapshot();
        const auto place = snapshot.PlaceOf(input.nodes[i]);
        if (!place || !place->leaf.valid()) continue;
        node.usage.push_back(
            {std::string(name), snapshot.LeafIdText(place->leaf), input.nodes[i].allocatable});
      }
      state->AddUsage(node.usage);
    }
    const auto fits = FitsWithoutEach(engine_, *state, request_, held);
    if (!fits) return tl::unexpected(fits.error());
    for (std::size_t i = 0; i < held.size(); ++i) {
      if ((*fits)[i]) found_.changes.repaired.push_back(held[i].name);
    }
    return {};
  }

  std::span<const RunningWorkload> running_;
  const WorkloadRequest& request_;
  const Engine& engine_;
  Certificate found_;
};

}  // namespace

std::optional<NearMiss> FindNearMiss(const ClusterState& state, const WorkloadRequest& request,
                                     const Engine& engine) {
  const WorkloadAnswer answer = engine.NominateOne(state, request);
  if (Fits(answer)) return std::nullopt;
  const auto failing = FailingJob(engine, state, request);
  if (!failing) return std::nullopt;
  return ReadNearMiss(*failing, engine.backend(), *answer.FirstFailure());
}

Result<Certificate> Explain(const ClusterState& state, const ClusterStateInput& input,
                            std::span<const RunningWorkload> running,
                            const WorkloadRequest& request, const Engine& engine) {
  return Explainer(running, request, engine).Run(state, input);
}

std::vector<RunningWorkload> RunningWorkloads(const Cluster& cluster, const ObjectKey& workload) {
  const ClusterLookup lookup(cluster);
  const auto newest = [&](const VictimSlices& slices) -> const Workload& {
    return cluster.workloads[slices.back()];
  };
  std::vector<VictimSlices> jobs = RunningJobs(cluster, workload);
  std::ranges::stable_sort(jobs, {}, [&](const VictimSlices& slices) {
    return std::tuple(newest(slices).priority, newest(slices).key);
  });
  std::vector<RunningWorkload> running;
  for (const VictimSlices& slices : jobs) {
    running.push_back(
        {newest(slices).key, VictimOf(cluster, slices, lookup), newest(slices).priority});
  }
  return running;
}

Result<Certificate> Explain(const Cluster& cluster, const WorkloadRequest& request,
                            const Engine& engine) {
  const ClusterStateInput input = BuildClusterStateInput(cluster, engine.gates());
  const Result<ClusterState> state = ClusterState::Build(input);
  if (!state) return tl::unexpected(state.error());
  const std::vector<RunningWorkload> running = RunningWorkloads(cluster, request.key);
  return Explain(*state, input, running, request, engine);
}

}  // namespace espalier
