#include "host/questions/local_questions.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/engine/assignments.hpp"
#include "host/engine/nested_request.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/planning/drain.hpp"
#include "host/live/usage_by_key.hpp"
#include "host/model/excerpt.hpp"
#include "host/what_if/census.hpp"
#include "host/what_if/empty_nodes.hpp"
#include "kernels/saturating.hpp"

namespace espalier {
namespace {

// Leaves of all flavors that any of some nodes would be part of. Whether it is does not matter:
// pods stay on nodes that were cordoned, became unready or no longer match the flavor.
class LeavesOf {
 public:
  LeavesOf(const ClusterState& state, const std::vector<Node>& nodes) {
    for (const std::string_view name : state.FlavorNames()) {
      std::span<const std::string> levels = state.Find(name)->snapshot().levels();
      if (levels.back() == kHostnameLabel) levels = levels.last(1);  // R4.1
      for (const Node& node : nodes) {
        const std::vector<std::string> values = LevelValues(node, levels);
        if (!values.empty()) leaves_.emplace(name, DomainIdText(values));
      }
    }
  }

  // Counts the pod slots of a workload, all and those on the leaves.
  std::pair<std::int64_t, std::int64_t> PodsOf(const AdmittedUsage& workload) const {
    std::pair<std::int64_t, std::int64_t> pods;
    for (const FlavorLeafUsage& entry : workload.usage) {
      const std::int64_t slots = PodSlotsOf({&entry, 1});
      pods.first += slots;
      if (leaves_.contains({entry.flavor, entry.leaf})) pods.second += slots;
    }
    return pods;
  }

 private:
  std::set<std::pair<std::string, std::string>> leaves_;
};

std::vector<HitWorkload> HitsOf(const AdmittedWorkloads& admitted, const LeavesOf& leaves) {
  std::vector<HitWorkload> hits;
  std::vector<const AdmittedUsage*> workloads = admitted.ByKey();
  std::ranges::stable_sort(workloads, std::greater(), &AdmittedUsage::priority);
  for (const AdmittedUsage* workload : workloads) {
    const auto [pods, pods_hit] = leaves.PodsOf(*workload);
    if (pods_hit > 0) hits.push_back({workload->key, workload->priority, pods_hit, pods});
  }
  return hits;
}

// Workloads beside the flavors and topologies of a state.
Cluster ClusterOf(const ClusterState& state, std::span<const Workload> workloads) {
  Cluster cluster;
  cluster.workloads.assign(workloads.begin(), workloads.end());
  std::set<std::string> topologies;
  for (const std::string_view name : state.FlavorNames()) {
    const FlavorSnapshot& flavor = state.Find(name)->snapshot();
    cluster.flavors.push_back(flavor.flavor());
    const std::string topology = flavor.flavor().topology_name.value_or("");
    if (topologies.insert(topology).second) {
      cluster.topologies.push_back({topology, flavor.levels()});
    }
  }
  return cluster;
}

NamedCensus Named(const GangCensus& census, const FlavorSnapshot& snapshot) {
  NamedCensus named{census.failure, {}};
  for (const LevelCensus& level : census.levels) {
    NamedCensus::Level& row = named.levels.emplace_back();
    row.level = level.level;
    row.gangs = level.gangs;
    if (level.level.empty()) row.domains.push_back({{}, census.pods, level.gangs});
    for (std::int32_t d = level.domains.begin; d < level.domains.end; ++d) {
      row.domains.push_back({snapshot.Path(DomainId(d)), census.PodsIn(d), census.GangsIn(d)});
    }
  }
  return named;
}

}  // namespace

LocalQuestions::LocalQuestions(std::shared_ptr<StateStore> store,
                               std::shared_ptr<const PublishedState> snapshot, Engine engine)
    : store_(std::move(store)), snapshot_(std::move(snapshot)), engine_(std::move(engine)) {}

Result<std::unique_ptr<LocalQuestions>> LocalQuestions::Open(const Cluster& cluster,
                                                             const Engine& engine) {
  ClusterStateInput input = BuildClusterStateInput(cluster, engine.gates());
  std::vector<AdmittedUsage> workloads = TakeUsageByKey(cluster, input);
  auto store = std::make_shared<StateStore>();
  if (auto loaded = store->Load(std::move(input), engine.budget(), std::move(workloads)); !loaded) {
    return tl::unexpected(loaded.error());
  }
  auto snapshot = store->Current();
  return std::make_unique<LocalQuestions>(std::move(store), std::move(snapshot), engine);
}

template <class Answer>
Result<Answer> LocalQuestions::IfDone(Answer answer) const {
  if (auto done = engine_.budget().Check(); !done) return tl::unexpected(done.error());
  return answer;
}

Result<const ClusterStateInput*> LocalQuestions::Input() {
  if (!input_) {
    auto loaded = store_->LoadedAt(snapshot_->position, engine_.budget());
    if (!loaded) return tl::unexpected(loaded.error());
    input_ = std::move(loaded->input);
  }
  return &*input_;
}

Result<void> LocalQuestions::CheckFlavors(std::span<const WorkloadRequest> requests) const {
  for (const WorkloadRequest& request : requests) {
    for (const PodSetRequest& pod_set : request.pod_sets) {
      if (snapshot_->state.Find(pod_set.flavor) != nullptr) continue;
      return tl::unexpected(
          Error{ErrorClass::kNotFound,
                fmt::format(
                    "workload {}: there is no flavor {} with a topology; there are {}",
                    Excerpt(request.key.ToString()), Excerpt(pod_set.flavor),
                    Excerpt(fmt::format("{}", fmt::join(snapshot_->state.FlavorNames(), ", "))))});
    }
  }
  return {};
}

Result<ClusterStateInput> LocalQuestions::ReadInput() {
  auto loaded = store_->LoadedAt(snapshot_->position, engine_.budget());
  if (!loaded) return tl::unexpected(loaded.error());
  return std::move(loaded->input);
}

Result<void> LocalQuestions::Suppose(ProposedChange change) {
  supposed_.reset();
  if (change.empty()) return {};
  auto state = store_->With(snapshot_->position, std::move(change), engine_.budget());
  if (!state) return tl::unexpected(state.error());
  supposed_ = *std::move(state);
  return {};
}

Result<std::vector<WorkloadAnswer>> LocalQuestions::Nominate(
    std::span<const WorkloadRequest> requests) {
  if (auto known = CheckFlavors(requests); !known) return tl::unexpected(known.error());
  return IfDone(engine_.Nominate(snapshot_->state, requests));
}

Result<std::vector<WorkloadAnswer>> LocalQuestions::NominateOnEmpty(
    std::span<const WorkloadRequest> requests) {
  if (auto known = CheckFlavors(requests); !known) return tl::unexpected(known.error());
  const auto input = Input();
  if (!input) return tl::unexpected(input.error());
  return EmptyNodes(snapshot_->state, **input, engine_)
      .Nominate({requests.begin(), requests.end()});
}

Result<Certificate> LocalQuestions::Explain(
    const WorkloadRequest& request, std::optional<std::span<const RunningWorkload>> running) {
  if (auto known = CheckFlavors({&request, 1}); !known) return tl::unexpected(known.error());
  const auto input = Input();
  if (!input) return tl::unexpected(input.error());
  const AdmittedWorkloads& admitted = *snapshot_->admitted;
  std::vector<RunningWorkload> others =
      running ? std::vector(running->begin(), running->end()) : AllAdmitted(admitted);
  const ObjectKey own_job = admitted.JobOf(request.key);
  std::erase_if(others, [&](const RunningWorkload& workload) {
    return admitted.JobOf(workload.key) == own_job;
  });
  return espalier::Explain(snapshot_->state, **input, others, request, engine_);
}

Result<std::vector<PrefixAnswer>> LocalQuestions::FindVictimsOfEach(
    std::span<const WorkloadRequest> requests, std::span<const RunningWorkload> victims,
    const VictimLists& lists) {
  VictimLists all(1);
  for (std::uint32_t v = 0; lists.empty() && v < victims.size(); ++v) all[0].push_back(v);
  auto batch =
      StartVictims(requests, {victims.begin(), victims.end()}, lists.empty() ? all : lists);
  if (!batch) return tl::unexpected(batch.error());
  std::vector<PrefixAnswer> answers;
  while (true) {
    auto some = batch->Next();
    if (!some) return tl::unexpected(some.error());
    if (some->empty()) return answers;
    std::ranges::move(*some, std::back_inserter(answers));
  }
}

Result<PrefixBatch> LocalQuestions::StartVictims(std::span<const WorkloadRequest> requests,
                                                 std::vector<RunningWorkload> victims,
                                                 const VictimLists& lists) const {
  if (auto known = CheckFlavors(requests); !known) return tl::unexpected(known.error());
  std::vector<Victim> plain;
  for (RunningWorkload& running : victims) plain.push_back(std::move(running.victim));
  return PrefixBatch::Open(engine_, supposed(), requests, std::move(plain), lists);
}

Result<NamedVictimSets> LocalQuestions::FindCheapestVictims(
    const WorkloadRequest& request, std::span<const RunningWorkload> victims) {
  if (auto known = CheckFlavors({&request, 1}); !known) return tl::unexpected(known.error());
  std::vector<PricedVictim> priced;
  for (const RunningWorkload& running : victims) {
    priced.push_back({running.victim, running.priority});
  }
  auto found = FindVictimSets(engine_, supposed(), request, priced);
  if (!found) return tl::unexpected(found.error());
  NamedVictimSets named{found->fits, {}};
  for (DomainVictims& domain : found->domains) {
    std::vector<std::string> values;
    if (domain.domain.valid()) {
      values = supposed().Find(domain.flavor)->snapshot().Path(domain.domain);
    }
    named.domains.push_back(
        {domain.flavor, std::move(values), std::move(domain.sets), domain.exact});
  }
  return named;
}

Result<AtlasParts> LocalQuestions::StartAtlas(
    std::span<const WorkloadRequest> requests,
    std::optional<std::span<const RunningWorkload>> running) const {
  if (auto known = CheckFlavors(requests); !known) return tl::unexpected(known.error());
  return AtlasParts::Start(
      engine_, supposed(), requests,
      running ? std::vector(running->begin(), running->end()) : AllAdmitted(*snapshot_->admitted));
}

Result<NamedAtlas> LocalQuestions::Atlas(std::span<const WorkloadRequest> requests,
                                         std::optional<std::span<const RunningWorkload>> running,
                                         const AnsweredProgress& progress) {
  auto parts = StartAtlas(requests, running);
  if (!parts) return tl::unexpected(parts.error());
  NamedAtlas atlas;
  std::size_t answered = 0;
  while (true) {
    auto part = parts->Next();
    if (!part) return tl::unexpected(part.error());
    const bool is_last = part->rows.empty();
    for (const NamedAtlas::Row& row : part->rows) answered += row.requests.size();
    if (!engine_.budget().Charge(BytesOfRows(*part))) break;
    Append(*std::move(part), atlas);
    if (progress) progress(answered);
    if (is_last) break;
  }
  return IfDone(std::move(atlas));
}

Result<NamedCensus> LocalQuestions::CountGangs(const WorkloadRequest& gang) {
  if (auto known = CheckFlavors({&gang, 1}); !known) return tl::unexpected(known.error());
  if (gang.tree || gang.pod_sets.size() != 1) {
    const auto fit = CountByPlacing(engine_, supposed(), gang, kMostCounted);
    if (!fit) return tl::unexpected(fit.error());
    return NamedCensus{{}, {{{}, *fit, {{{}, SaturatingProduct(PodsOf(gang), *fit), *fit}}}}};
  }
  const PodSetRequest& pods = gang.pod_sets.front();
  const auto census = espalier::CountGangs(supposed(), {&pods, 1}, CensusDetail::kDomains,
                                           engine_.gates(), engine_.backend());
  return IfDone(Named(census.front(), supposed().Find(pods.flavor)->snapshot()));
}

Result<DrainAnswer> LocalQuestions::Drain(const std::vector<std::string>& nodes,
                                          std::span<const WorkloadRequest> requests) {
  if (auto once = CheckAskedOnce(requests); !once) return tl::unexpected(once.error());
  if (auto known = CheckFlavors(requests); !known) return tl::unexpected(known.error());
  const auto drained = store_->NodesAt(snapshot_->position, nodes);
  if (!drained) return tl::unexpected(drained.error());
  DrainAnswer answer{HitsOf(*snapshot_->admitted, LeavesOf(snapshot_->state, *drained)), {}, {}};
  std::set<ObjectKey> hit;
  for (const HitWorkload& workload : answer.hits) hit.insert(workload.key);
  auto state = store_->With(snapshot_->position, {.drained = nodes}, engine_.budget());
  if (!state) return tl::unexpected(state.error());
  std::vector<WorkloadRequest> moved;
  for (std::size_t w = 0; w < requests.size(); ++w) {
    const AdmittedUsage* known = snapshot_->admitted->Find(requests[w].key);
    if (known == nullptr) {
      return tl::unexpected(
          Error{ErrorClass::kNotFound,
                fmt::format(
                    "workloads: {} (position {}) is not an admitted workload that the state knows",
                    Excerpt(requests[w].key.ToString()), w)});
    }
    if (!hit.contains(requests[w].key)) continue;
    state->ChangeUsage(known->usage, -1, snapshot_->shares_usage);
    answer.moved.push_back(w);
    moved.push_back(requests[w]);
  }
  answer.answers = engine_.PlaceInOrder(*state, moved);
  return IfDone(std::move(answer));
}

Result<NamedDefragment> LocalQuestions::Defragment(std::span<const WorkloadRequest> requests,
                                                   const DefragmentOptions& options) {
  if (auto once = CheckAskedOnce(requests); !once) return tl::unexpected(once.error());
  if (auto known = CheckFlavors(requests); !known) return tl::unexpected(known.error());
  NamedDefragment named;
  std::vector<PlacedGang> gangs;
  std::vector<std::size_t> positions;  // of the gangs with a request
  std::set<ObjectKey> described;       // jobs
  const AdmittedWorkloads& admitted = *snapshot_->admitted;
  const auto add = [&](PlacedGang gang) {
    gangs.push_back(std::move(gang));
    engine_.budget().Charge(
        static_cast<std::int64_t>(gangs.back().usage.size() * sizeof(FlavorLeafUsage)));
    return engine_.budget().MayContinue();
  };
  for (std::size_t w = 0; w < requests.size(); ++w) {
    const WorkloadRequest& request = requests[w];
    if (admitted.Find(request.key) == nullptr) {
      named.unknown.push_back(w);
      continue;
    }
    if (!described.insert(admitted.JobOf(request.key)).second) {
      return BadInput(
          fmt::format("workloads: {} (position {}) is a slice of the same job as one before it; "
                      "name one of them, and all slices move",
                      Excerpt(request.key.ToString()), w));
    }
    positions.push_back(w);
    if (!add({request.key, admitted.WholeJob(request.key).usage, request})) break;
  }
  for (const AdmittedUsage* workload : admitted.ByKey()) {
    if (described.contains(admitted.JobOf(workload->key))) continue;
    if (!add({workload->key, workload->usage, std::nullopt})) break;
  }
  if (auto done = engine_.budget().Check(); !done) return tl::unexpected(done.error());
  auto state = snapshot_->state.Branch(engine_.budget());
  if (!state) return tl::unexpected(state.error());
  DefragmentOptions asked = options;
  asked.shared = snapshot_->shares_usage;
  auto plan = PlanDefragment(*std::move(state), std::move(gangs), asked, engine_);
  if (!plan) return tl::unexpected(plan.error());
  named.plan = *std::move(plan);
  for (FreedDomain& freed : named.plan.freed) {
    for (DefragmentMove& move : freed.moves) move.gang = positions[move.gang];
  }
  return named;
}

Result<std::vector<WorkloadAnswer>> LocalQuestions::Replay(const ReplayedWorkloads& replayed) {
  if (auto known = CheckFlavors(replayed.requests); !known) return tl::unexpected(known.error());
  auto replayer = Replayer::Start(*snapshot_, replayed.requests, replayed.ended, engine_);
  if (!replayer) return tl::unexpected(replayer.error());
  std::vector<WorkloadAnswer> answers;
  for (std::size_t i = 0; i < replayed.requests.size() && engine_.budget().MayContinue(); ++i) {
    answers.push_back(replayer->Next(replayed.requests[i], i < replayed.chosen.size()
                                                               ? replayed.chosen[i]
                                                               : std::vector<FlavorLeafUsage>()));
  }
  return IfDone(std::move(answers));
}

Result<AssignmentCheck> LocalQuestions::Validate(std::span<const Workload> workloads) {
  const Cluster cluster = ClusterOf(snapshot_->state, workloads);
  const ClusterLookup lookup(cluster);
  auto state = snapshot_->state.Branch(engine_.budget());
  if (!state) return tl::unexpected(state.error());
  for (const Workload& workload : cluster.workloads) {
    const AdmittedUsage* known = snapshot_->admitted->Find(workload.key);
    if (known != nullptr) state->ChangeUsage(known->usage, -1, snapshot_->shares_usage);
    state->ChangeUsage(TasUsage(workload, lookup), 1, snapshot_->shares_usage);
    if (!engine_.budget().MayContinue()) return tl::unexpected(engine_.budget().Check().error());
  }
  return CheckAssignments(cluster, *state, engine_.gates());
}

Result<Replayer> Replayer::Start(const PublishedState& snapshot,
                                 std::span<const WorkloadRequest> requests,
                                 std::span<const ObjectKey> ended, const Engine& engine) {
  auto state = snapshot.state.Branch(engine.budget());
  if (!state) return tl::unexpected(state.error());
  std::set<ObjectKey> free(ended.begin(), ended.end());
  for (const WorkloadRequest& request : requests) free.insert(request.key);
  for (const ObjectKey& key : free) {
    if (!engine.budget().MayContinue()) return tl::unexpected(engine.budget().Check().error());
    const AdmittedUsage* known = snapshot.admitted->Find(key);
    if (known != nullptr) state->ChangeUsage(known->usage, -1, snapshot.shares_usage);
  }
  return Replayer(*std::move(state), snapshot.shares_usage, engine);
}

WorkloadAnswer Replayer::Next(const WorkloadRequest& request,
                              const std::vector<FlavorLeafUsage>& chosen) {
  WorkloadAnswer answer = engine_->NominateOne(state_, request);
  state_.ChangeUsage(chosen, 1, shares_usage_);
  return answer;
}

Result<void> CheckAskedOnce(std::span<const WorkloadRequest> requests) {
  std::set<ObjectKey> seen;
  for (std::size_t w = 0; w < requests.size(); ++w) {
    if (seen.insert(requests[w].key).second) continue;
    return BadInput(fmt::format("workloads: {} (position {}) is named twice; want each once",
                                Excerpt(requests[w].key.ToString()), w));
  }
  return {};
}

std::vector<RunningWorkload> AllAdmitted(const AdmittedWorkloads& admitted) {
  std::vector<RunningWorkload> running;
  std::set<ObjectKey> seen;  // jobs
  for (const AdmittedUsage* workload : admitted.ByKey()) {
    if (!seen.insert(admitted.JobOf(workload->key)).second) continue;
    AdmittedUsage job = admitted.WholeJob(workload->key);
    running.push_back({job.key, {job.key.ToString(), std::move(job.usage)}, job.priority});
  }
  std::ranges::sort(running, {}, [](const RunningWorkload& workload) {
    return std::tie(workload.priority, workload.key);
  });
  return running;
}

}  // namespace espalier
