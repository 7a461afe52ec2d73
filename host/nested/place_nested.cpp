#include "host/nested/place_nested.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "host/engine/assignments.hpp"
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

// Whether a step that is not required of the root might have been placed, had something placed
// before it gone elsewhere: the domain of a group around it, or another group.
bool MayHaveBeenInTheWay(const NestedSteps& steps, std::int32_t step) {
  for (std::int32_t s = steps.steps[static_cast<std::size_t>(step)].parent; s >= 0;
       s = steps.steps[static_cast<std::size_t>(s)].parent) {
    const NestedStep& around = steps.steps[static_cast<std::size_t>(s)];
    if (around.required != kNoLevel || around.preferred != kNoLevel) return true;
    if (steps.sources[static_cast<std::size_t>(s)].group->groups.size() > 1) return true;
  }
  return false;
}

// Nested gangs on one flavor, and on the same nodes empty.
class OnFlavor {
 public:
  OnFlavor(NestedRunner& runner, FlavorState& flavor, NestedProfile profile, WorkBudget& budget)
      : runner_(runner),
        flavor_(flavor),
        profile_(profile),
        budget_(budget),
        now_(flavor, false, profile == NestedProfile::kKep5732, budget) {}

  NestedAnswer Place(const NestedRequest& request, PlacementMode mode) {
    auto steps = ResolveNested(request, flavor_.snapshot(), profile_, budget_);
    if (!steps) return BadRequest(std::move(steps.error().message));
    if (request.simulate_empty) {
      const WhenEmpty when_empty = DecideEmpty(*steps);
      return Answer(request, *steps, when_empty.decided);
    }
    const NestedState::Answer decided = now_.Run(runner_, *steps, Order());
    if (budget_.stopped()) return {};
    if (mode == PlacementMode::kSequential) {
      Book(*steps, decided);
    } else {
      now_.TakeBack(*steps, decided);
    }
    return Answer(request, *steps, decided);
  }

 private:
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
      if (!when_empty) when_empty.emplace(DecideEmpty(steps));
      return VerdictOn(request, steps, decided, *when_empty, step);
    };
    return ToAnswer(steps, decided, flavor_.snapshot(), verdict, budget_);
  }

  NestedOrder Order() const {
    return profile_ == NestedProfile::kEspalier ? NestedOrder::kTightestFit
                                                : NestedOrder::kTightestShare;
  }

  void Book(const NestedSteps& steps, const NestedState::Answer& decided) {
    std::vector<std::vector<LeafShare>> shares(steps.shapes.size());
    for (std::size_t i = 0; i < decided.takes.size(); ++i) {
      const auto step = static_cast<std::size_t>(decided.take_step[i]);
      const Share& take = decided.takes[i];
      shares[static_cast<std::size_t>(steps.steps[step].shape)].push_back(
          {LeafId(take.domain), 0, take.pods});
    }
    for (std::size_t s = 0; s < shares.size(); ++s) {
      flavor_.Book(MergeShares({}, shares[s]), *steps.shapes[s]);
    }
  }

  NestedState& Empty() {
    if (!empty_) {
      empty_ = std::make_unique<NestedState>(flavor_, true, profile_ == NestedProfile::kKep5732,
                                             budget_);
    }
    return *empty_;
  }

  NestedState::Answer RunEmpty(const NestedSteps& steps) {
    NestedState::Answer decided = Empty().Run(runner_, steps, Order());
    Empty().TakeBack(steps, decided);
    return decided;
  }

  WhenEmpty DecideEmpty(const NestedSteps& steps) {
    NestedState::Answer decided = RunEmpty(steps);
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
      const NestedRequest part{request.key, request.flavor, std::move(chain), false};
      const auto part_steps = ResolveNested(part, flavor_.snapshot(), profile_, budget_);
      if (!part_steps) continue;
      const NestedState::Answer decided_part = RunEmpty(*part_steps);
      if (decided_part.result.outcome != NestedOutcome::kDoesNotFit) continue;
      known->second = true;
      break;
    }
    return known->second;
  }

  NestedRunner& runner_;
  FlavorState& flavor_;
  NestedProfile profile_;
  WorkBudget& budget_;
  NestedState now_;
  std::unique_ptr<NestedState> empty_;
};

std::string UnknownFlavor(const NestedRequest& request, const ClusterState& state) {
  return fmt::format("workload {}: flavor is {}: flavors with a topology are {}",
                     request.key.ToString(), request.flavor.empty() ? "empty" : request.flavor,
                     fmt::join(state.FlavorNames(), ", "));
}

}  // namespace

std::vector<NestedAnswer> PlaceNested(NestedRunner& runner, ClusterState& state,
                                      std::span<const NestedRequest> requests, PlacementMode mode,
                                      NestedProfile profile, WorkBudget& budget) {
  std::map<std::string_view, OnFlavor> flavors;
  std::vector<NestedAnswer> answers;
  answers.reserve(requests.size());
  for (const NestedRequest& request : requests) {
    if (!budget.Pause()) break;
    FlavorState* const flavor = state.Find(request.flavor);
    if (flavor == nullptr) {
      answers.push_back(BadRequest(UnknownFlavor(request, state)));
      continue;
    }
    OnFlavor& on_flavor =
        flavors.try_emplace(request.flavor, runner, *flavor, profile, budget).first->second;
    NestedAnswer answer = on_flavor.Place(request, mode);
    if (budget.stopped()) break;
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<FlavorLeafUsage> UsageOf(const NestedRequest& request, const NestedAnswer& answer) {
  std::vector<FlavorLeafUsage> usage;
  DomainIds ids;
  for (const NestedGroupAnswer& group : answer.groups) {
    if (!group.assignment) continue;
    const NestedGroup* const at = GroupAt(request.root, group.path);
    if (at == nullptr || !at->pods) continue;
    for (const TopologyDomainAssignment& domain : group.assignment->domains) {
      usage.push_back({request.flavor, std::string(ids.Of(domain.values)),
                       UsageOfPods(at->pods->requests, domain.count)});
    }
  }
  return usage;
}

}  // namespace espalier
