// Places one nested gang: first all that is required of it, then what it may have in addition
// (R25.3, R25.7, R25.8).
#pragma once

#include <cstdint>

#include "kernels/nested/nested_choice.hpp"
#include "kernels/nested/nested_ranks.hpp"

namespace espalier {

// Stores where a step is placed; one lane writes.
template <class Team>
ESPALIER_HD void Keep(Team& team, const NestedRun& run, std::int32_t step,
                      const NestedChoice& choice) {
  team.sync();  // who still reads what was there has done so
  if (team.rank() == 0) run.choices[step] = choice;
  team.sync();
}

// Returns the first step from `step` on that is required of the group it is in, as far as `end`.
ESPALIER_HD inline std::int32_t NextRequired(const NestedRun& run, std::int32_t step,
                                             std::int32_t end) {
  while (step < end && run.steps[step].optional) step = run.steps[step].end;
  return step;
}

// Sets the domain of the steps inside a ranked group to the group's.
template <class Team>
ESPALIER_HD void KeepInside(Team& team, const NestedRun& run, std::int32_t group,
                            const NestedChoice& where) {
  for (std::int32_t s = group + 1 + team.rank(); s < run.steps[group].end; s += team.size()) {
    run.choices[s] = where;
  }
  team.sync();
}

// Places what step `step` itself takes, whose domain is chosen. Returns the step to continue with,
// or -1 when its ranks do not fit.
template <class Team>
ESPALIER_HD std::int32_t PlaceStep(Team& team, const NestedRun& run, std::int32_t step,
                                   const NestedChoice& where, std::int32_t& taken) {
  const NestedStep& at = run.steps[step];
  if (at.shape >= 0) {
    PlacePods(team, run, step, at.min_pods, where.level, where.domain, taken);
    return at.end;
  }
  if (at.ranks == NestedRanks::kByPath) return step + 1;
  if (!PlaceRankedGroup(team, run, at, where, taken)) return -1;
  KeepInside(team, run, step, where);
  return at.end;
}

// Returns the step to try another alternative of when `step` has none left: the one it is in, or,
// going back to siblings too, the one placed before it. -1: `first` has none left.
ESPALIER_HD inline std::int32_t StepBack(const NestedRun& run, std::int32_t step,
                                         std::int32_t first, bool siblings) {
  if (step == first) return -1;
  return siblings ? run.choices[step].from : run.steps[step].parent;
}

// Searches places for what is required of step `first`, whose parent is placed. Leaves no pod
// placed where it fails; `result.stuck` is then at least the last step that had no alternative.
template <class Team>
ESPALIER_HD ESPALIER_OUT_OF_LINE NestedOutcome Search(Team& team, const NestedRun& run,
                                                      std::int32_t first, bool siblings,
                                                      NestedResult& result) {
  std::int32_t& taken = result.take_count;
  const std::int32_t end = run.steps[first].end;
  const std::int32_t most = siblings ? run.most_sibling_trials : run.most_trials;
  std::int32_t trials = 0;
  std::int32_t step = first;
  NestedChoice fresh;
  fresh.take_begin = taken;
  Keep(team, run, first, fresh);
  for (;;) {
    if (!GoesOn(run)) return NestedOutcome::kOutOfTrials;
    const NestedStep& at = run.steps[step];
    NestedChoice choice = run.choices[step];
    choice.placed = false;
    TakeBack(team, run, choice.take_begin, taken);
    const NestedChoice outer = at.parent >= 0 ? run.choices[at.parent] : NestedChoice{};
    std::int32_t next = -1;
    if (NextAlternative(team, run, at, outer.level, outer.domain, choice)) {
      if (++trials > most) {
        TakeBack(team, run, run.choices[first].take_begin, taken);
        return NestedOutcome::kOutOfTrials;
      }
      choice.placed = true;
      Keep(team, run, step, choice);
      next = PlaceStep(team, run, step, choice, taken);
      if (next < 0) continue;  // another alternative of the same step
    } else {
      if (step > result.stuck) result.stuck = step;
      step = StepBack(run, step, first, siblings);
      if (step < 0) return NestedOutcome::kDoesNotFit;
      continue;
    }
    next = NextRequired(run, next, end);
    if (next >= end) return NestedOutcome::kPlaced;
    fresh.take_begin = taken;
    fresh.from = step;
    step = next;
    Keep(team, run, step, fresh);
  }
}

// Makes both searches (R25.7).
template <class Team>
ESPALIER_HD bool PlaceRequired(Team& team, const NestedRun& run, std::int32_t step,
                               NestedResult& result) {
  NestedOutcome outcome = Search(team, run, step, false, result);
  if (outcome == NestedOutcome::kDoesNotFit && run.siblings) {
    outcome = Search(team, run, step, true, result);
  }
  if (outcome == NestedOutcome::kOutOfTrials) result.out_of_trials = true;
  if (step == 0) result.outcome = outcome;
  return outcome == NestedOutcome::kPlaced;
}

// Places copies that are not required, each as a whole, in the order of the steps (R25.8).
template <class Team>
ESPALIER_HD void PlaceOptional(Team& team, const NestedRun& run, NestedResult& result) {
  std::int32_t step = 1;
  while (step < run.step_count && GoesOn(run)) {
    const NestedStep& at = run.steps[step];
    if (!at.optional || PlaceRequired(team, run, step, result)) {
      ++step;
      continue;
    }
    team.sync();
    for (std::int32_t s = step + team.rank(); s < at.end; s += team.size()) {
      run.choices[s].placed = false;
    }
    team.sync();
    const bool ends = at.parent >= 0 && run.steps[at.parent].in_order;
    step = ends ? run.steps[at.parent].end : at.end;
  }
}

// Places pods above the required number, as many as fit where their group is.
template <class Team>
ESPALIER_HD void PlaceMorePods(Team& team, const NestedRun& run, NestedResult& result) {
  for (std::int32_t step = 0; step < run.step_count && GoesOn(run); ++step) {
    const NestedStep& at = run.steps[step];
    if (at.shape < 0 || at.max_pods <= at.min_pods) continue;
    const NestedChoice where = run.choices[step];
    if (!where.placed) continue;
    const Count room = RoomFor(team, run.space, at.shape, where.level, where.domain);
    const Count wanted = at.max_pods - at.min_pods;
    PlacePods(team, run, step, wanted < room ? wanted : room, where.level, where.domain,
              result.take_count);
  }
}

template <class Team>
ESPALIER_HD NestedResult PlaceNested(Team& team, const NestedRun& run) {
  NestedResult result;
  for (std::int32_t s = team.rank(); s < run.step_count; s += team.size()) {
    run.choices[s] = NestedChoice{};
  }
  team.sync();
  CountStale(team, run);
  if (PlaceRequired(team, run, 0, result)) {
    PlaceOptional(team, run, result);
    PlaceMorePods(team, run, result);
  }
  return result;
}

}  // namespace espalier
