#include "host/nested/place_nested.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
#include "host/nested/group_choices.hpp"
#include "host/nested/nested_answer.hpp"
#include "host/nested/nested_runner.hpp"
#include "host/nested/nested_state.hpp"
#include "host/nested/nested_steps.hpp"

namespace espalier {
namespace {

NestedAnswer BadRequest(std::string reason) {
  NestedAnswer answer;
  answer.status = NestedStatus::kBadRequest;
  answer.reason = std::move(reason);
  return answer;
}

// The part of a tree that holds one copy of the group of a step and nothing else, all of it
// required; of pods that are not, one. Of the groups around it as much as ChainsOf looks at.
NestedGroup OnlyWith(const NestedSteps& steps, std::int32_t step) {
  NestedGroup part = *steps.sources[static_cast<std::size_t>(step)].group;
  if (part.pods) part.pods->min_count = std::max(part.pods->min_count, 1);
  part.copies = part.min_copies = 1;
  for (;;) {
    step = steps.steps[static_cast<std::size_t>(step)].parent;
    if (step < 0) return part;
    const NestedGroup& group = *steps.sources[static_cast<std::size_t>(step)].group;
    NestedGroup around;
    around.name = group.name;
    around.required = group.required;
    around.groups.push_back(std::move(part));
    part = std::move(around);
  }
}

// Returns whether a step that is not required of the root might have been placed, had something
// placed before it gone elsewhere: the domain of a group around it, or another group.
bool MayHaveBeenInTheWay(const NestedSteps& steps, std::int32_t step) {
  for (std::int32_t s = steps.steps[static_cast<std::size_t>(step)].parent; s >= 0;
       s = steps.steps[static_cast<std::size_t>(s)].parent) {
    const NestedStep& around = steps.steps[static_cast<std::size_t>(s)];
    if (around.required != kNoLevel || around.preferred != kNoLevel) return true;
    if (steps.sources[static_cast<std::size_t>(s)].group->groups.size() > 1) return true;
  }
  return false;
}

// A decision, and what it gives to each pod set of the workload.
struct Placed {
  NestedAnswer answer;
  std::vector<SharedValue<TopologyAssignment>> assignments;
};

NestedOrder OrderOf(const NestedRequest& request) {
  return request.profile == NestedProfile::kEspalier ? NestedOrder::kTightestFit
                                                     : NestedOrder::kTightestShare;
}

// Nested gangs on one flavor, and on the same nodes empty.
class OnFlavor {
 public:
  // Books into `booked`, which is null or `flavor` itself.
  OnFlavor(NestedRunner& runner, const FlavorState& flavor, FlavorState* booked, WorkBudget& budget)
      : runner_(runner),
        flavor_(flavor),
        budget_(budget),
        now_(flavor, booked, false, budget),
        empty_(flavor, nullptr, true, budget) {}

  // `pod_sets`: how many the workload has that the tree is of.
  Placed Place(const NestedRequest& request, bool on_empty, std::size_t pod_sets) {
    if (!LeavesChoice(request.root)) return PlaceWhole(request, on_empty, pod_sets);
    // R25.16.
    const auto valid = ResolveNested(request, flavor_.snapshot(), budget_);
    if (!valid) return {BadRequest(valid.error().message), {}};
    const GroupChoices choices(request.root);
    NestedRequest chosen = request;
    std::optional<Placed> best;
    bool never = choices.complete();
    for (std::size_t i = 0; i < choices.size() && budget_.MayContinue(); ++i) {
      chosen.root = choices.Tree(i);
      Placed placed = PlaceWhole(chosen, on_empty, pod_sets);
      if (IsPlaced(placed.answer.status)) return placed;
      never = never && placed.answer.status == NestedStatus::kNever;
      // The choices behind the first need less, so that of the reasons theirs count.
      const bool is_better = placed.answer.status == NestedStatus::kNotNow && best &&
                             best->answer.status != NestedStatus::kNotNow;
      if (i < 2 || is_better) best = std::move(placed);
    }
    if (!best) return {};
    if (!never && best->answer.status == NestedStatus::kNever) {
      best->answer.status = NestedStatus::kUndecided;
    }
    return *std::move(best);
  }

 private:
  // Places a tree of which no group leaves a choice.
  Placed PlaceWhole(const NestedRequest& request, bool on_empty, std::size_t pod_sets) {
    auto steps = ResolveNested(request, flavor_.snapshot(), budget_);
    if (!steps) return {BadRequest(std::move(steps.error().message)), {}};
    const NestedState::Answer decided =
        (on_empty ? empty_ : now_).Run(runner_, *steps, OrderOf(request));
    if (budget_.stopped()) return {};
    return {Answer(request, *steps, decided), AssignmentsOf(*steps, decided, pod_sets)};
  }

  // The same request on empty nodes.
  struct WhenEmpty {
    NestedState::Answer decided;
    PlacedPods placed;
    std::map<const NestedGroup*, bool> never;  // by group, one copy of it alone
  };

  NestedAnswer Answer(const NestedRequest& request, const NestedSteps& steps,
                      const NestedState::Answer& decided) {
    std::optional<WhenEmpty> when_empty;
    const Verdict verdict = [&](std::int32_t step) {
      if (!when_empty) when_empty.emplace(DecideEmpty(request, steps));
      return VerdictOn(request, steps, decided, *when_empty, step);
    };
    return ToAnswer(steps, decided, flavor_.snapshot(), verdict, budget_);
  }

  std::vector<SharedValue<TopologyAssignment>> AssignmentsOf(const NestedSteps& steps,
                                                             const NestedState::Answer& decided,
                                                             std::size_t pod_sets) const {
    std::vector<std::vector<LeafShare>> shares(pod_sets);
    for (std::size_t i = 0; i < decided.takes.size(); ++i) {
      const auto step = static_cast<std::size_t>(decided.take_step[i]);
      const std::int32_t pod_set = steps.sources[step].group->pods->pod_set;
      if (pod_set < 0 || static_cast<std::size_t>(pod_set) >= pod_sets) continue;
      shares[static_cast<std::size_t>(pod_set)].push_back(
          {LeafId(decided.takes[i].domain), 0, decided.takes[i].pods});
    }
    std::vector<SharedValue<TopologyAssignment>> assignments(pod_sets);
    for (std::size_t p = 0; p < pod_sets; ++p) {
      if (shares[p].empty()) continue;
      assignments[p] = ToAssignment(MergeShares({}, shares[p]), false, flavor_.snapshot());
    }
    return assignments;
  }

  WhenEmpty DecideEmpty(const NestedRequest& request, const NestedSteps& steps) {
    NestedState::Answer decided = empty_.Run(runner_, steps, OrderOf(request));
    PlacedPods placed(steps, decided);
    return {std::move(decided), std::move(placed), {}};
  }

  // R25.14.
  NestedStatus VerdictOn(const NestedRequest& request, const NestedSteps& steps,
                         const NestedState::Answer& decided, WhenEmpty& when_empty,
                         std::int32_t step) {
    const bool fits_empty = when_empty.placed.IsPlaced(step) &&
                            (when_empty.placed.Of(step) > 0 || when_empty.placed.Most(step) == 0);
    if (fits_empty) {
      return decided.result.out_of_trials ? NestedStatus::kUndecided : NestedStatus::kNotNow;
    }
    if (steps.uniform && !when_empty.decided.result.out_of_trials &&
        !MayHaveBeenInTheWay(steps, step)) {
      return NestedStatus::kNever;
    }
    return NeverFits(request, steps, when_empty, step) ? NestedStatus::kNever
                                                       : NestedStatus::kUndecided;
  }

  bool NeverFits(const NestedRequest& request, const NestedSteps& steps, WhenEmpty& when_empty,
                 std::int32_t step) {
    const NestedGroup* const group = steps.sources[static_cast<std::size_t>(step)].group;
    const auto [known, added] = when_empty.never.emplace(group, false);
    if (!added) return known->second;
    for (NestedGroup& chain : ChainsOf(OnlyWith(steps, step))) {
      if (budget_.stopped()) break;
      const NestedRequest part{request.key, request.flavor, std::move(chain), false,
                               request.profile};
      const auto part_steps = ResolveNested(part, flavor_.snapshot(), budget_);
      if (!part_steps) continue;
      const NestedState::Answer decided_part = empty_.Run(runner_, *part_steps, OrderOf(part));
      if (decided_part.result.outcome != NestedOutcome::kDoesNotFit) continue;
      known->second = true;
      break;
    }
    return known->second;
  }

  NestedRunner& runner_;
  const FlavorState& flavor_;
  WorkBudget& budget_;
  NestedState now_;
  NestedState empty_;
};

std::string UnknownFlavor(const NestedRequest& request, const ClusterState& state) {
  return fmt::format("workload {}: flavor is {}: flavors with a topology are {}",
                     request.key.ToString(), request.flavor.empty() ? "empty" : request.flavor,
                     fmt::join(state.FlavorNames(), ", "));
}

// The flavors of a state, each with what was placed on it so far.
class OnState {
 public:
  OnState(NestedRunner& runner, const ClusterState& state, ClusterState* booked, WorkBudget& budget)
      : runner_(runner), state_(state), booked_(booked), budget_(budget) {}

  // Returns a decision, which is meaningless once the budget is stopped.
  Placed Place(const NestedRequest& request, bool on_empty, std::size_t pod_sets) {
    const FlavorState* const flavor = state_.Find(request.flavor);
    if (flavor == nullptr) return {BadRequest(UnknownFlavor(request, state_)), {}};
    FlavorState* const booked = booked_ == nullptr ? nullptr : booked_->Find(request.flavor);
    OnFlavor& on_flavor =
        flavors_.try_emplace(request.flavor, runner_, *flavor, booked, budget_).first->second;
    return on_flavor.Place(request, on_empty, pod_sets);
  }

 private:
  NestedRunner& runner_;
  const ClusterState& state_;
  ClusterState* const booked_;
  WorkBudget& budget_;
  std::map<std::string, OnFlavor> flavors_;
};

WorkloadAnswer ToWorkloadAnswer(const WorkloadRequest& request, Placed placed) {
  WorkloadAnswer answer;
  if (IsPlaced(placed.answer.status)) {
    for (std::size_t p = 0; p < request.pod_sets.size(); ++p) {
      const PodSetRequest& pod_set = request.pod_sets[p];
      if (!placed.assignments[p]) continue;
      answer.pod_sets.push_back(
          {pod_set.name, pod_set.flavor, std::move(placed.assignments[p]), {}});
    }
  } else {
    PodSetAnswer& failed = answer.pod_sets.emplace_back();
    if (!request.pod_sets.empty()) failed.name = request.pod_sets.front().name;
    failed.flavor = request.tree->flavor;
    failed.failure = PlacementFailure{placed.answer.reason, {}};
  }
  answer.tree = std::move(placed.answer);
  return answer;
}

}  // namespace

std::vector<NestedAnswer> PlaceNested(NestedRunner& runner, ClusterState& state,
                                      std::span<const NestedRequest> requests, PlacementMode mode,
                                      WorkBudget& budget) {
  OnState on_state(runner, state, mode == PlacementMode::kSequential ? &state : nullptr, budget);
  std::vector<NestedAnswer> answers;
  answers.reserve(requests.size());
  for (const NestedRequest& request : requests) {
    if (!budget.MayContinue()) break;
    Placed placed = on_state.Place(request, request.simulate_empty, 0);
    if (budget.stopped()) break;
    answers.push_back(std::move(placed.answer));
  }
  return answers;
}

std::vector<WorkloadAnswer> PlaceTrees(NestedRunner& runner, const ClusterState& state,
                                       ClusterState* booked,
                                       std::span<const WorkloadRequest* const> requests,
                                       WorkBudget& budget) {
  OnState on_state(runner, state, booked, budget);
  std::vector<WorkloadAnswer> answers;
  answers.reserve(requests.size());
  for (const WorkloadRequest* request : requests) {
    if (!budget.MayContinue()) break;
    const bool on_empty = request->simulate_empty || request->tree->simulate_empty;
    Placed placed = on_state.Place(*request->tree, on_empty, request->pod_sets.size());
    if (budget.stopped()) break;
    answers.push_back(ToWorkloadAnswer(*request, std::move(placed)));
  }
  return answers;
}

}  // namespace espalier
