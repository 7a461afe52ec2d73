#include "host/kueue/validation/certificate.hpp"

#include <algorithm>
#include <compare>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "host/engine/backend.hpp"
#include "host/engine/leaf_input.hpp"
#include "host/engine/request_resolution.hpp"
#include "host/engine/verdicts.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/kueue/cycle/preemption.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/packing/node_match.hpp"
#include "host/what_if/changed_nodes.hpp"
#include "host/what_if/empty_nodes.hpp"

namespace espalier {
namespace {

// Prefix of the taints that Kubernetes puts on nodes that are cordoned or in trouble.
constexpr std::string_view kNodeTroubleTaints = "node.kubernetes.io/";

// The point at which a request fails.
struct Failing {
  std::optional<PlacementJob> job;  // absent also where there is no leaf
  bool refused = false;             // before a job was made, whatever nodes there are
};

Failing FindFailing(const Engine& engine, const ClusterState& state,
                    const WorkloadRequest& request) {
  if (request.tree) return {};  // no one job decides it
  WorkloadPlacement placement(request, state, engine.gates(), engine.budget());
  PlacementColumns answers;
  while (const PlacementJob* next = placement.NextJob()) {
    PlacementJob job = *next;
    engine.backend().EvaluateOne(job, answers);
    const PlacementResult result = answers.At(0);
    if (result.status != PlacementStatus::kPlaced) {
      if (job.state->snapshot().leaf_count() == 0) return {};
      return {std::move(job), false};
    }
    placement.Accept(result);
  }
  return {std::nullopt, true};
}

std::optional<PlacementJob> FailingJob(const Engine& engine, const ClusterState& state,
                                       const WorkloadRequest& request) {
  return FindFailing(engine, state, request).job;
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
    ReadLeftOut(state, input);
    const Failing failing = FindFailing(engine_, state, request_);
    TryOtherFlavors(state);
    const bool refused =
        request_.tree ? found_.answer.tree->status == NestedStatus::kBadRequest : failing.refused;
    if (refused) {
      found_.never = true;
      found_.empty = found_.answer;
      return std::move(found_);
    }
    TryFewerPods(state);
    TryCoarserLevels(state);
    TrySmallerSlices(state);
    TryLowerRequests(state);
    TryFewerConstraints(state, input);
    if (const auto tried = TryVictims(state); !tried) return tl::unexpected(tried.error());
    ChangedNodes changed(state, input);
    if (const auto tried = TryRepairs(input, changed); !tried) {
      return tl::unexpected(tried.error());
    }
    if (const auto tried = TryLabels(input, changed); !tried) return tl::unexpected(tried.error());
    if (const auto tried = TryEmpty(state, input); !tried) return tl::unexpected(tried.error());
    if (!found_.near_miss && failing.job) {
      found_.near_miss =
          ReadNearMiss(*failing.job, engine_.backend(), *found_.answer.FirstFailure());
    }
    if (found_.near_miss) ReadRuledOut(state, input, *found_.near_miss);
    return std::move(found_);
  }

 private:
  // Tries nodes where nothing runs that could end.
  Result<void> TryEmpty(const ClusterState& state, const ClusterStateInput& input) {
    EmptyNodes nodes(state, input, engine_);
    const auto on_empty = [&](std::vector<WorkloadRequest> requests) {
      return nodes.Nominate(std::move(requests));
    };
    auto answers = on_empty({request_});
    if (!answers) return tl::unexpected(answers.error());
    found_.empty = std::move(answers->front());
    if (auto judged = JudgeTreesOnEmpty({&request_, 1}, {&found_.answer, 1}, on_empty); !judged) {
      return judged;
    }
    const auto verdicts = DecideVerdicts({&request_, 1}, {&found_.answer, 1}, on_empty);
    if (!verdicts) return tl::unexpected(verdicts.error());
    const std::optional<NestedStatus> verdict = verdicts->front();
    found_.undecided = verdict == NestedStatus::kUndecided;
    // Without a verdict it fails for what is no lack of room, such as a flavor without nodes.
    found_.never = verdict == NestedStatus::kNever || (!verdict && !Fits(found_.empty));
    if (!found_.never) return {};
    const auto empty = nodes.State();
    if (!empty) return tl::unexpected(empty.error());
    if (Fits(found_.empty)) return {};
    if (const auto failing = FailingJob(engine_, **empty, nodes.Request(request_))) {
      found_.near_miss = ReadNearMiss(*failing, engine_.backend(), *found_.empty.FirstFailure());
    }
    return {};
  }

  // Returns the only pod set of a request that has one and places it from nothing; null for others.
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

  // The pod set of a request that failed; null in a tree.
  PodSetRequest* FailedPodSet(WorkloadRequest& request) const {
    if (request.tree) return nullptr;
    const PodSetAnswer* failed = found_.answer.FirstFailure();
    const auto found = std::ranges::find(request.pod_sets, failed->name, &PodSetRequest::name);
    return found == request.pod_sets.end() ? nullptr : &*found;
  }

  bool FitsNow(const ClusterState& state, const WorkloadRequest& request) const {
    return engine_.budget().MayContinue() && Fits(engine_.NominateOne(state, request));
  }

  void ReadLeftOut(const ClusterState& state, const ClusterStateInput& input) {
    std::set<std::string> flavors;
    for (const PodSetRequest& pod_set : request_.pod_sets) flavors.insert(pod_set.flavor);
    for (const std::string& name : flavors) {
      const FlavorState* flavor = state.Find(name);
      if (flavor == nullptr) continue;
      const FlavorSnapshot& snapshot = flavor->snapshot();
      std::ranges::move(NodesLeftOut(input.nodes, snapshot.flavor(), snapshot.levels()),
                        std::back_inserter(found_.left_out));
    }
  }

  void TryOtherFlavors(const ClusterState& state) {
    if (request_.tree || request_.replacement) return;
    for (const std::string_view name : state.FlavorNames()) {
      const auto is_on_it = [&](const PodSetRequest& pod_set) { return pod_set.flavor == name; };
      if (std::ranges::any_of(request_.pod_sets, is_on_it)) continue;
      WorkloadRequest request = request_;
      for (PodSetRequest& pod_set : request.pod_sets) pod_set.flavor = std::string(name);
      if (FitsNow(state, request)) found_.changes.other_flavors.emplace_back(name);
    }
  }

  // Sizes that divide that of now keep whole slices whole (R6.9).
  void TrySmallerSlices(const ClusterState& state) {
    WorkloadRequest request = request_;
    PodSetRequest* pod_set = OnlyPodSet(request);
    if (pod_set == nullptr) return;
    const auto slices = SliceConstraints(pod_set->topology_request);
    if (slices.size() != 1 || slices.front().size <= 1) return;
    TopologyRequest& topology = *pod_set->topology_request;
    for (std::int32_t size = slices.front().size / 2; size >= 1; --size) {
      if (slices.front().size % size != 0) continue;
      topology.slice_constraints = {{slices.front().topology, size}};
      topology.slice_topology.reset();
      topology.slice_size.reset();
      if (!FitsNow(state, request)) continue;
      found_.changes.slice_size = size;
      return;
    }
  }

  // The less a pod asks for, the more fit: a search by halves, whose answer is tried.
  void TryLowerRequests(const ClusterState& state) {
    WorkloadRequest request = request_;
    PodSetRequest* pod_set = FailedPodSet(request);
    if (pod_set == nullptr) return;
    const Resources asked = pod_set->requests;
    for (const auto& entry : asked) {
      const Amount full = entry.second;
      if (full <= 0) continue;
      const auto fits = [&](Amount amount) {
        pod_set->requests = asked;
        pod_set->requests.Set(entry.first, amount);
        return FitsNow(state, request);
      };
      if (!fits(0)) continue;
      Amount most = 0;
      Amount too_much = full;
      while (too_much - most > 1) {
        const Amount middle = most + (too_much - most) / 2;
        (fits(middle) ? most : too_much) = middle;
      }
      found_.changes.lower_requests.push_back({entry.first, most, full});
    }
  }

  // The nodes on which a pod set may be placed but for what it asks of nodes; none where the
  // topology ends above the hosts, as nothing is looked at then (R7.1).
  std::vector<const Node*> NodesOf(const ClusterState& state, const ClusterStateInput& input,
                                   const std::string& flavor_name,
                                   std::span<const std::string> below = {}) const {
    std::vector<const Node*> nodes;
    const FlavorState* flavor = state.Find(flavor_name);
    if (flavor == nullptr || flavor->snapshot().levels().back() != kHostnameLabel) return nodes;
    for (const Node& node : input.nodes) {
      const auto place = flavor->snapshot().PlaceOf(node);
      if (!place || !place->leaf.valid() || place->path.size() < below.size()) continue;
      if (std::ranges::equal(below, std::span(place->path).first(below.size()))) {
        nodes.push_back(&node);
      }
    }
    return nodes;
  }

  std::optional<NodeConstraints> ConstraintsOf(const ClusterState& state,
                                               const PodSetRequest& pod_set) const {
    const FlavorState* flavor = state.Find(pod_set.flavor);
    if (flavor == nullptr) return std::nullopt;
    auto resolved = ResolveRequest(pod_set, flavor->snapshot(), engine_.gates());
    if (!resolved) return std::nullopt;
    return std::move(resolved->constraints);
  }

  void TryFewerConstraints(const ClusterState& state, const ClusterStateInput& input) {
    WorkloadRequest request = request_;
    PodSetRequest* pod_set = FailedPodSet(request);
    if (pod_set == nullptr) return;
    const auto constraints = ConstraintsOf(state, *pod_set);
    if (!constraints) return;
    const std::vector<const Node*> nodes = NodesOf(state, input, pod_set->flavor);
    if (WhatRulesOut(*constraints, nodes).empty()) return;
    const PodSetRequest asked = *pod_set;
    for (const FewerConstraints& part : PartsOf(*constraints)) {
      *pod_set = asked;
      PodTemplate& pods = pod_set->pod_template;
      if (part.selector_key.empty()) {
        pods.affinity.required.reset();
      } else {
        pods.node_selector.Erase(part.selector_key);
        for (PodSetUpdate& update : pod_set->updates) update.node_selector.Erase(part.selector_key);
      }
      if (FitsNow(state, request)) found_.changes.without.push_back(part.without);
    }
    for (const Taint& taint : UntoleratedTaints(*constraints, nodes)) {
      *pod_set = asked;
      pod_set->pod_template.tolerations.push_back(TolerationOf(taint));
      if (FitsNow(state, request)) found_.changes.tolerated.push_back(TaintText(taint));
    }
  }

  void ReadRuledOut(const ClusterState& state, const ClusterStateInput& input,
                    NearMiss& miss) const {
    const auto pod_set = std::ranges::find(request_.pod_sets, miss.pod_set, &PodSetRequest::name);
    if (pod_set == request_.pod_sets.end()) return;
    const auto constraints = ConstraintsOf(state, *pod_set);
    if (!constraints) return;
    // A domain without a matching node is the nearest for no reason of its own: all nodes count.
    const bool none_matches = miss.nodes_not_matching == miss.nodes;
    const std::vector<std::string> below = none_matches ? std::vector<std::string>() : miss.domain;
    miss.ruled_out = WhatRulesOut(*constraints, NodesOf(state, input, pod_set->flavor, below));
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
  Result<void> TryRepairs(const ClusterStateInput& given, ChangedNodes& changed) {
    const auto is_well = [](const Node& node) { return node.ready && !node.unschedulable; };
    if (std::ranges::all_of(given.nodes, is_well)) return {};  // spares the copy
    std::vector<Node> repaired;
    for (const Node& ill : given.nodes) {
      if (is_well(ill)) continue;
      Node& node = repaired.emplace_back(ill);
      node.ready = true;
      node.unschedulable = false;
      std::erase_if(node.taints,
                    [](const Taint& taint) { return taint.key.starts_with(kNodeTroubleTaints); });
    }
    Result<ClusterState> state = changed.With(repaired, engine_.budget());
    if (!state) return tl::unexpected(state.error());
    std::vector<Victim> held;
    for (const Node& well : repaired) {
      Victim& node = held.emplace_back();
      node.name = well.name;
      for (const std::string_view name : state->FlavorNames()) {
        const FlavorSnapshot& snapshot = state->Find(name)->snapshot();
        const auto place = snapshot.PlaceOf(well);
        if (!place || !place->leaf.valid()) continue;
        node.usage.push_back(
            {std::string(name), snapshot.LeafIdText(place->leaf), well.allocatable});
      }
      state->AddUsage(node.usage);
    }
    const auto fits = FitsWithoutEach(engine_, *state, request_, held);
    if (!fits) return tl::unexpected(fits.error());
    for (std::size_t i = 0; i < held.size(); ++i) {
      if ((*fits)[i]) found_.changes.repaired.push_back(held[i].name);
    }
    if (!found_.changes.repaired.empty() || held.size() < 2) return {};
    const auto together = FindPrefix(engine_, *state, request_, held);
    if (!together) return tl::unexpected(together.error());
    for (const std::size_t i : together->targets) {
      found_.changes.repaired_together.push_back(held[i].name);
    }
    std::ranges::sort(found_.changes.repaired_together);
    return {};
  }

  // The value that nodes have of a label which agree with a node in the finest level that it has:
  // nullopt where there is none, or several.
  static std::optional<std::string> ValueByNeighbours(const std::vector<Node>& nodes,
                                                      std::span<const std::string> levels,
                                                      std::size_t level, const Node& node) {
    if (levels[level] == kHostnameLabel) return node.name;
    std::set<std::string> values;
    for (std::size_t finer = level + 1; finer < levels.size() && values.empty(); ++finer) {
      const std::string* own = node.labels.Find(levels[finer]);
      if (own == nullptr || levels[finer] == kHostnameLabel) continue;
      for (const Node& other : nodes) {
        const std::string* theirs = other.labels.Find(levels[finer]);
        const std::string* value = other.labels.Find(levels[level]);
        if (theirs != nullptr && *theirs == *own && value != nullptr) values.insert(*value);
      }
    }
    if (values.empty()) {
      for (const Node& other : nodes) {
        if (const std::string* value = other.labels.Find(levels[level])) values.insert(*value);
      }
    }
    if (values.size() != 1) return std::nullopt;
    return *values.begin();
  }

  // With each label of a level that well nodes of the flavor lack.
  Result<void> TryLabels(const ClusterStateInput& given, ChangedNodes& changed) {
    if (request_.tree) return {};
    const std::string& name = request_.pod_sets.front().flavor;
    const auto flavor = std::ranges::find(given.flavors, name, &ResourceFlavor::name);
    if (flavor == given.flavors.end()) return {};
    const auto topology =
        std::ranges::find(given.topologies, flavor->topology_name.value_or(""), &Topology::name);
    if (topology == given.topologies.end()) return {};
    for (std::size_t level = 0; level < topology->levels.size(); ++level) {
      const std::string& label = topology->levels[level];
      std::set<std::string> lacking;
      for (const LeftOutNodes& cause : NodesLeftOut(given.nodes, *flavor, topology->levels)) {
        lacking.insert(cause.nodes.begin(), cause.nodes.end());
      }
      LabelledNodes labelled{label, "", {}};
      std::vector<Node> nodes;
      bool same_value = true;
      for (const Node& node : given.nodes) {
        if (!lacking.contains(node.name) || !node.ready || node.unschedulable ||
            node.labels.Contains(label)) {
          continue;
        }
        const auto value = ValueByNeighbours(given.nodes, topology->levels, level, node);
        if (!value) continue;
        if (labelled.nodes.empty()) labelled.value = *value;
        same_value = same_value && *value == labelled.value;
        nodes.emplace_back(node).labels.Set(label, *value);
        labelled.nodes.push_back(node.name);
      }
      if (labelled.nodes.empty()) continue;
      const Result<ClusterState> state = changed.With(nodes, engine_.budget());
      if (!state) return tl::unexpected(state.error());
      if (!same_value) labelled.value.clear();
      if (FitsNow(*state, request_)) found_.changes.labelled.push_back(std::move(labelled));
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

}  // namespace espalier
