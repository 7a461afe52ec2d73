#include "host/engine/engine.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/booked_leaves.hpp"
#include "host/engine/chunks.hpp"
#include "host/engine/workload_placement.hpp"

namespace espalier {
namespace {

// Workloads nominated together: enough to keep every thread and a device busy, few enough to report
// progress and to bound memory.
constexpr std::size_t kNominateBatch = 1024;
// Bytes of memory that a named domain of an answer takes, and at least on the wire.
constexpr std::int64_t kBytesOfDomain = 160;
constexpr std::int64_t kLeastAnswerBytesOfDomain = 2;

// A job of a workload and what it was answered.
struct Decided {
  PlacementJob job;
  PlacementResult result;
};

// Nominates requests: rounds of jobs, one per workload that still has one. `decided`, when given,
// gets the jobs of each workload. Adds no answers where the work is to stop.
void NominateBatch(Backend& backend, const ClusterState& state, const FeatureGates& gates,
                   WorkBudget& budget, std::span<const WorkloadRequest> requests,
                   std::vector<WorkloadAnswer>& answers,
                   std::vector<std::vector<Decided>>* decided = nullptr) {
  std::vector<WorkloadPlacement> open;
  open.reserve(requests.size());
  for (const WorkloadRequest& request : requests) open.emplace_back(request, state, gates, budget);
  std::vector<PlacementJob> jobs;
  std::vector<PlacementResult> results;
  std::vector<WorkloadPlacement*> asking;
  std::vector<WorkloadPlacement*> left;
  for (WorkloadPlacement& placement : open) left.push_back(&placement);
  for (;;) {
    jobs.clear();
    asking.clear();
    for (WorkloadPlacement* placement : left) {
      if (budget.stopped()) return;
      if (const PlacementJob* job = placement->NextJob()) {
        jobs.push_back(*job);
        jobs.back().budget = &budget;
        asking.push_back(placement);
      }
    }
    if (jobs.empty()) break;
    results.assign(jobs.size(), {});
    backend.Evaluate(jobs, results);
    for (std::size_t i = 0; i < asking.size(); ++i) {
      const auto shares = static_cast<std::int64_t>(results[i].shares.size());
      if (!budget.Charge(shares * kBytesOfDomain) ||
          !budget.ChargeAnswer(shares * kLeastAnswerBytesOfDomain)) {
        return;
      }
      asking[i]->Accept(results[i]);
    }
    if (decided != nullptr) {
      for (std::size_t i = 0; i < asking.size(); ++i) {
        const auto workload = static_cast<std::size_t>(asking[i] - open.data());
        (*decided)[workload].push_back({std::move(jobs[i]), std::move(results[i])});
      }
    }
    left = asking;
  }
  for (WorkloadPlacement& placement : open) answers.push_back(placement.TakeAnswer());
}

// One round of PlaceInRounds: `answers` gets those that stand, which are booked.
std::size_t PlaceRound(Backend& backend, ClusterState& state, const FeatureGates& gates,
                       WorkBudget& budget, std::span<const WorkloadRequest> requests,
                       BookedLeaves& booked, std::vector<WorkloadAnswer>& answers,
                       const Engine::Progress& progress) {
  if (!budget.Pause()) return requests.size();  // the others are passed over likewise
  std::vector<WorkloadAnswer> ahead;
  std::vector<std::vector<Decided>> decided(requests.size());
  // The first stands anyway.
  NominateBatch(backend, state, gates, budget, requests, ahead,
                requests.size() > 1 ? &decided : nullptr);
  if (budget.stopped()) return requests.size();
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const bool stands = std::ranges::all_of(
        decided[i], [&](const Decided& d) { return booked.Stands(d.job, d.result); });
    if (!stands) return i;
    answers.push_back(std::move(ahead[i]));
    if (answers.back().FirstFailure() == nullptr) {
      const std::vector<FlavorLeafUsage> usage = BookedUsage(requests[i], answers.back());
      for (const FlavorLeafUsage& entry : usage) {
        if (i + 1 == requests.size()) break;  // nobody asks
        const FlavorState* flavor = std::as_const(state).Find(entry.flavor);
        const LeafId leaf = flavor != nullptr ? flavor->snapshot().FindLeaf(entry.leaf) : LeafId();
        if (leaf.valid()) booked.Note(*flavor, leaf);
      }
      state.AddUsage(usage);
    }
    if (progress) progress(answers.size());
  }
  return requests.size();
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using PodsByLeaf = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;

// Pods that are on a leaf already and need no booking; null: none.
PodsByLeaf PodsOn(const TopologyAssignment* assignment) {
  PodsByLeaf pods;
  if (assignment == nullptr) return pods;
  pods.reserve(assignment->domains.size());
  for (const TopologyDomainAssignment& domain : assignment->domains) {
    pods[DomainIdText(domain.values)] += domain.count;
  }
  return pods;
}

// A pod set of a request and where its pods were before; null: nowhere.
struct KnownPodSet {
  const PodSetRequest* pod_set = nullptr;
  const TopologyAssignment* before = nullptr;
};

// By name; of two of one name the first.
std::unordered_map<std::string_view, KnownPodSet> KnownPodSets(const WorkloadRequest& request) {
  std::unordered_map<std::string_view, KnownPodSet> known;
  known.reserve(request.pod_sets.size());
  for (const PodSetRequest& pod_set : request.pod_sets) {
    const bool stays = !request.replacement && pod_set.previous_assignment;
    known.emplace(pod_set.name,
                  KnownPodSet{&pod_set, stays ? &*pod_set.previous_assignment : nullptr});
  }
  if (!request.replacement) return known;
  for (const PodSetAssignment& admitted : request.replacement->admitted) {
    const auto pod_set = known.find(admitted.name);
    if (pod_set == known.end() || !admitted.topology_assignment) continue;
    pod_set->second.before = &*admitted.topology_assignment;
  }
  return known;
}

}  // namespace

Engine::Engine(std::shared_ptr<Backend> backend, FeatureGates gates, WorkBudget& budget)
    : backend_(std::move(backend)), gates_(gates), budget_(budget) {}
Engine::~Engine() = default;

std::vector<WorkloadAnswer> Engine::Nominate(const ClusterState& state,
                                             std::span<const WorkloadRequest> requests,
                                             const Progress& progress) const {
  std::vector<WorkloadAnswer> answers;
  answers.reserve(requests.size());
  Chunks chunks(budget_, kNominateBatch);
  while (answers.size() < requests.size() && chunks.Begin()) {
    const std::size_t first = answers.size();
    NominateBatch(*backend_, state, gates_, budget_,
                  requests.subspan(first, std::min(chunks.size(), requests.size() - first)),
                  answers);
    if (progress) progress(answers.size());
  }
  return answers;
}

std::vector<WorkloadAnswer> Engine::PlaceInOrder(ClusterState& state,
                                                 std::span<const WorkloadRequest> requests,
                                                 const Progress& progress) const {
  std::vector<WorkloadAnswer> answers;
  answers.reserve(requests.size());
  PlaceInRounds(*backend_, requests.size(),
                [&](std::size_t first, std::size_t count, BookedLeaves& booked) {
                  return PlaceRound(*backend_, state, gates_, budget_,
                                    requests.subspan(first, count), booked, answers, progress);
                });
  return answers;
}

std::vector<WorkloadAnswer> Engine::Place(ClusterState& state,
                                          std::span<const WorkloadRequest> requests,
                                          PlacementMode mode, const Progress& progress) const {
  return mode == PlacementMode::kNominate ? Nominate(state, requests, progress)
                                          : PlaceInOrder(state, requests, progress);
}

std::vector<AddedPods> PodsAdded(const WorkloadRequest& request, const WorkloadAnswer& answer) {
  std::vector<AddedPods> pods;
  const auto known = KnownPodSets(request);
  DomainIds ids;
  for (const PodSetAnswer& placed : answer.pod_sets) {
    if (!placed.assignment) continue;
    const auto found = known.find(placed.name);
    if (found == known.end()) continue;
    const auto& [pod_set, assignment_before] = found->second;
    const PodsByLeaf before = PodsOn(assignment_before);
    for (const TopologyDomainAssignment& domain : placed.assignment->domains) {
      const std::string_view leaf = ids.Of(domain.values);
      const auto stayed = before.find(leaf);
      const std::int64_t added = domain.count - (stayed == before.end() ? 0 : stayed->second);
      if (added > 0) pods.push_back({pod_set, std::string(leaf), added});
    }
  }
  return pods;
}

std::vector<FlavorLeafUsage> BookedUsage(const WorkloadRequest& request,
                                         const WorkloadAnswer& answer) {
  std::vector<FlavorLeafUsage> booked;
  for (AddedPods& added : PodsAdded(request, answer)) {
    booked.push_back({added.pod_set->flavor, std::move(added.leaf),
                      UsageOfPods(added.pod_set->requests, added.count)});
  }
  return booked;
}

}  // namespace espalier
