#include "host/engine/engine.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/engine/compiled_requests.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/engine/tree_placer.hpp"
#include "host/engine/workload_placement.hpp"

namespace espalier {
namespace {

std::vector<RequestOnState> OnOneState(const ClusterState& state,
                                       std::span<const WorkloadRequest> requests) {
  std::vector<RequestOnState> asked;
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

// Decides requests without trees, of few pod sets each or one of many, and adds their answers.
// `booked` is the state of all where placements are to be booked, else null.
void AnswerFlat(std::span<const RequestOnState> requests, ClusterState* booked,
                const Engine& engine, const AnsweredProgress& progress,
                std::vector<WorkloadAnswer>& answers) {
  const std::size_t done = answers.size();
  const AnsweredProgress more = [&](std::size_t count) {
    if (progress) progress(done + count);
  };
  CompiledRequests compiled = Compile(requests, engine.gates(), engine.budget());
  GangBatch batch(compiled.states, std::move(compiled.shapes), compiled.stepped, engine.gates(),
                  engine.budget());
  GangAnswers decided;
  if (booked == nullptr) {
    batch.Nominate(engine.backend(), compiled.gangs, decided, more);
  } else {
    batch.PlaceInOrder(engine.backend(), *booked, compiled.gangs, decided, more);
  }
  std::ranges::move(batch.TakeNamed(compiled.gangs, decided), std::back_inserter(answers));
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

std::vector<WorkloadAnswer> Engine::Nominate(std::span<const RequestOnState> requests,
                                             const AnsweredProgress& progress) const {
  const auto is_tree = [](const RequestOnState& one) { return one.request->tree.has_value(); };
  if (std::ranges::any_of(requests, is_tree)) return NominateApart(requests, progress);
  std::vector<WorkloadAnswer> answers;
  answers.reserve(requests.size());
  while (answers.size() < requests.size() && !budget_.stopped()) {
    const auto left = requests.subspan(answers.size());
    const auto together = OpenedTogether(
        left, [](const RequestOnState& one) -> const auto& { return *one.request; });
    AnswerFlat(left.first(together), nullptr, *this, progress, answers);
  }
  return answers;
}

std::vector<WorkloadAnswer> Engine::NominateApart(std::span<const RequestOnState> requests,
                                                  const AnsweredProgress& progress) const {
  std::vector<RequestOnState> flat;
  for (const RequestOnState& one : requests) {
    if (!one.request->tree) flat.push_back(one);
  }
  std::vector<WorkloadAnswer> of_flat = Nominate(flat, progress);
  std::vector<WorkloadAnswer> answers;
  auto next_flat = of_flat.begin();
  for (std::size_t i = 0; i < requests.size() && budget_.MayContinue();) {
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
  while (answers.size() < requests.size() && budget_.MayContinue()) {
    const auto left = requests.subspan(answers.size());
    const bool trees = left.front().tree.has_value();
    const auto end = std::ranges::find_if(
        left, [&](const WorkloadRequest& one) { return one.tree.has_value() != trees; });
    const std::span<const WorkloadRequest> run(left.begin(), end);
    if (trees) {
      std::vector<const WorkloadRequest*> asked;
      for (const WorkloadRequest& one : run) asked.push_back(&one);
      PlaceTrees(*backend_, asked, state, &state, budget_, answers);
      if (progress) progress(answers.size());
      continue;
    }
    const auto together = OpenedTogether(
        run, [](const WorkloadRequest& one) -> const auto& { return one; });
    AnswerFlat(OnOneState(state, run.first(together)), &state, *this, progress, answers);
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

}  // namespace espalier
