#include "host/engine/engine.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/engine/rounds.hpp"
#include "host/engine/tree_placer.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/model/by_name.hpp"

namespace espalier {
namespace {

// Workloads nominated together: enough to keep every thread and a device busy, few enough to report
// progress and to bound memory.
constexpr std::size_t kNominateBatch = 1024;

std::vector<StateRequest> OnOneState(const ClusterState& state,
                                     std::span<const WorkloadRequest> requests) {
  std::vector<StateRequest> asked;
  asked.reserve(requests.size());
  for (const WorkloadRequest& request : requests) asked.push_back({&request, &state});
  return asked;
}

bool HasManyPodSets(const WorkloadRequest& request) {
  return request.pod_sets.size() > WorkloadPlacement::kManyPodSets;
}

// Returns how many of the first requests are opened together: those of few pod sets, or one of
// many.
template <class Requests, class RequestOf>
std::size_t OpenedTogether(const Requests& requests, const RequestOf& request_of) {
  const auto end = std::ranges::find_if(
      requests, [&](const auto& one) { return HasManyPodSets(request_of(one)); });
  return std::max<std::size_t>(static_cast<std::size_t>(end - requests.begin()), 1);
}

// The workloads of a call.
class Workloads final : public PlacementRequests {
 public:
  // `booked` is the state of all requests where placements are to be booked, else null.
  Workloads(std::span<const StateRequest> requests, ClusterState* booked, const FeatureGates& gates,
            WorkBudget& budget)
      : requests_(requests), state_(booked), gates_(gates), budget_(budget) {
    answers_.reserve(requests.size());
  }

  std::size_t size() const override { return requests_.size(); }

  void Open(std::size_t first, std::size_t count) override {
    first_ = first;
    open_.clear();
    open_.reserve(count);
    asking_.resize(count);
    std::iota(asking_.begin(), asking_.end(), first);
    for (const std::size_t request : asking_) {
      open_.emplace_back(*requests_[request].request, *requests_[request].state, gates_, budget_);
      if (count == 1) open_.back().BookManyPodSets();  // its jobs are not kept
    }
  }
  void AppendJobs(RequestJobs& jobs) override {
    std::erase_if(asking_, [&](std::size_t request) {
      const PlacementJob* job = budget_.stopped() ? nullptr : Placement(request).NextJob();
      if (job != nullptr) jobs.Add(*job, request);
      return job == nullptr;
    });
  }
  bool Accept(std::span<PlacementResult> results) override {
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!ChargeDomains(results[i].shares.size(), budget_)) return false;
      Placement(asking_[i]).Accept(results[i]);
    }
    return true;
  }

  bool Keep(std::size_t request) override {
    answers_.push_back(Placement(request).TakeAnswer());
    return true;
  }
  void Book(std::size_t request, BookedLeaves* booked) override {
    if (answers_.back().FirstFailure() != nullptr) return;
    const std::vector<FlavorLeafUsage> usage =
        BookedUsage(*requests_[request].request, answers_.back());
    if (booked != nullptr) Note(usage, *booked);
    state_->AddUsage(usage);
  }

  std::vector<WorkloadAnswer> TakeAnswers() { return std::move(answers_); }

 private:
  WorkloadPlacement& Placement(std::size_t request) { return open_[request - first_]; }

  void Note(const std::vector<FlavorLeafUsage>& usage, BookedLeaves& booked) const {
    for (const FlavorLeafUsage& entry : usage) {
      const FlavorState* flavor = std::as_const(*state_).Find(entry.flavor);
      const LeafId leaf = flavor != nullptr ? flavor->snapshot().FindLeaf(entry.leaf) : LeafId();
      if (leaf.valid()) booked.Note(*flavor, leaf);
    }
  }

  std::span<const StateRequest> requests_;
  ClusterState* state_;
  const FeatureGates& gates_;
  WorkBudget& budget_;
  std::size_t first_ = 0;
  std::vector<WorkloadPlacement> open_;  // from the first on
  std::vector<std::size_t> asking_;      // the open requests that may have a job left
  std::vector<WorkloadAnswer> answers_;
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using PodsByLeaf = std::unordered_map<std::string, std::int64_t, TextHash, std::equal_to<>>;

// Returns the pods that are on a leaf already and need no booking; null: none.
PodsByLeaf PodsOn(const SharedValue<TopologyAssignment>* assignment) {
  PodsByLeaf pods;
  if (assignment == nullptr || !*assignment) return pods;
  pods.reserve((*assignment)->domains.size());
  for (const TopologyDomainAssignment& domain : (*assignment)->domains) {
    pods[DomainIdText(domain.values)] += domain.count;
  }
  return pods;
}

// Adds the answers of trees on one state, in order.
void PlaceTrees(const Backend& backend, std::span<const WorkloadRequest* const> trees,
                const ClusterState& state, ClusterState* booked, WorkBudget& budget,
                std::vector<WorkloadAnswer>& answers) {
  if (backend.trees() != nullptr) {
    std::ranges::move(backend.trees()->Place(trees, state, booked, budget),
                      std::back_inserter(answers));
    return;
  }
  for (std::size_t i = 0; i < trees.size(); ++i) {
    answers.emplace_back().pod_sets.push_back(
        {.failure = PlacementFailure{"the back end places no trees", {}}});
  }
}

}  // namespace

Engine::Engine(std::shared_ptr<Backend> backend, FeatureGates gates, WorkBudget& budget)
    : backend_(std::move(backend)), gates_(gates), budget_(budget) {}
Engine::~Engine() = default;

std::vector<WorkloadAnswer> Engine::Nominate(const ClusterState& state,
                                             std::span<const WorkloadRequest> requests,
                                             const AnsweredProgress& progress) const {
  return Nominate(OnOneState(state, requests), progress);
}

WorkloadAnswer Engine::NominateOne(const ClusterState& state,
                                   const WorkloadRequest& request) const {
  std::vector<WorkloadAnswer> answers = Nominate(state, {&request, 1});
  return answers.empty() ? WorkloadAnswer() : std::move(answers.front());
}

std::vector<WorkloadAnswer> Engine::Nominate(std::span<const StateRequest> requests,
                                             const AnsweredProgress& progress) const {
  const auto is_tree = [](const StateRequest& one) { return one.request->tree.has_value(); };
  if (std::ranges::any_of(requests, is_tree)) return NominateApart(requests, progress);
  std::vector<WorkloadAnswer> answers;
  answers.reserve(requests.size());
  while (answers.size() < requests.size() && !budget_.stopped()) {
    const std::size_t done = answers.size();
    const auto left = requests.subspan(done);
    const auto together = OpenedTogether(
        left, [](const StateRequest& one) -> const auto& { return *one.request; });
    Workloads workloads(left.first(together), nullptr, gates_, budget_);
    NominateInRounds(*backend_, workloads, kNominateBatch, budget_, [&](std::size_t more) {
      if (progress) progress(done + more);
    });
    std::ranges::move(workloads.TakeAnswers(), std::back_inserter(answers));
  }
  return answers;
}

std::vector<WorkloadAnswer> Engine::NominateApart(std::span<const StateRequest> requests,
                                                  const AnsweredProgress& progress) const {
  std::vector<StateRequest> flat;
  for (const StateRequest& one : requests) {
    if (!one.request->tree) flat.push_back(one);
  }
  std::vector<WorkloadAnswer> of_flat = Nominate(flat, progress);
  std::vector<WorkloadAnswer> answers;
  auto next_flat = of_flat.begin();
  for (std::size_t i = 0; i < requests.size() && budget_.Pause();) {
    if (!requests[i].request->tree) {
      if (next_flat == of_flat.end()) break;  // stopped
      answers.push_back(std::move(*next_flat++));
      ++i;
      continue;
    }
    const ClusterState* const state = requests[i].state;
    std::vector<const WorkloadRequest*> trees;
    for (; i < requests.size() && requests[i].request->tree && requests[i].state == state; ++i) {
      trees.push_back(requests[i].request);
    }
    PlaceTrees(*backend_, trees, *state, nullptr, budget_, answers);
    if (progress) progress(answers.size());
  }
  return answers;
}

std::vector<WorkloadAnswer> Engine::PlaceInOrder(ClusterState& state,
                                                 std::span<const WorkloadRequest> requests,
                                                 const AnsweredProgress& progress) const {
  std::vector<WorkloadAnswer> answers;
  answers.reserve(requests.size());
  while (answers.size() < requests.size() && budget_.Pause()) {
    const auto left = requests.subspan(answers.size());
    const bool trees = left.front().tree.has_value();
    const auto end = std::ranges::find_if(
        left, [&](const WorkloadRequest& one) { return one.tree.has_value() != trees; });
    const std::span<const WorkloadRequest> run(left.begin(), end);
    const std::size_t done = answers.size();
    if (trees) {
      std::vector<const WorkloadRequest*> asked;
      for (const WorkloadRequest& one : run) asked.push_back(&one);
      PlaceTrees(*backend_, asked, state, &state, budget_, answers);
      if (progress) progress(answers.size());
      continue;
    }
    const auto together = OpenedTogether(
        run, [](const WorkloadRequest& one) -> const auto& { return one; });
    const std::vector<StateRequest> asked = OnOneState(state, run.first(together));
    Workloads workloads(asked, &state, gates_, budget_);
    PlaceInRounds(*backend_, workloads, budget_, [&](std::size_t more) {
      if (progress) progress(done + more);
    });
    std::ranges::move(workloads.TakeAnswers(), std::back_inserter(answers));
  }
  return answers;
}

std::vector<WorkloadAnswer> Engine::Place(ClusterState& state,
                                          std::span<const WorkloadRequest> requests,
                                          PlacementMode mode,
                                          const AnsweredProgress& progress) const {
  return mode == PlacementMode::kNominate ? Nominate(state, requests, progress)
                                          : PlaceInOrder(state, requests, progress);
}

std::vector<AddedPods> PodsAdded(const WorkloadRequest& request, const WorkloadAnswer& answer) {
  std::vector<AddedPods> pods;
  const auto pod_sets = ByName(request.pod_sets);
  std::unordered_map<std::string_view, const PodSetAssignment*> admitted;
  if (request.replacement) admitted = ByName(request.replacement->admitted);
  DomainIds ids;
  for (const PodSetAnswer& placed : answer.pod_sets) {
    const PodSetRequest* pod_set = FindOrNull(pod_sets, placed.name);
    if (!placed.assignment || pod_set == nullptr) continue;
    const PodSetAssignment* was = FindOrNull(admitted, placed.name);
    const PodsByLeaf before = PodsOn(!request.replacement ? &pod_set->previous_assignment
                                     : was != nullptr     ? &was->topology_assignment
                                                          : nullptr);
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
