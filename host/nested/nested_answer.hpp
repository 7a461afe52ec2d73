// Turns the decision about a nested gang into names, assignments and reasons.
#pragma once

#include <functional>
#include <string>

#include "host/engine/nested_request.hpp"
#include "host/model/work_budget.hpp"
#include "host/nested/nested_state.hpp"
#include "host/nested/nested_steps.hpp"

namespace espalier {

// Counts the pods that a decision placed for each step, itself or in the groups inside it.
class PlacedPods {
 public:
  PlacedPods(const NestedSteps& steps, const NestedState::Answer& answer);

  // Returns whether the step and every group around it were placed with all that they require.
  bool IsPlaced(std::int32_t step) const { return placed_[static_cast<std::size_t>(step)]; }
  Count Of(std::int32_t step) const { return pods_[static_cast<std::size_t>(step)]; }
  // Returns the pods of a step when all of it is placed.
  Count Most(std::int32_t step) const { return most_[static_cast<std::size_t>(step)]; }

 private:
  std::vector<bool> placed_;
  std::vector<Count> pods_;
  std::vector<Count> most_;
};

// Returns why no pod of a step is placed: kNotNow, kNever or kUndecided.
using Verdict = std::function<NestedStatus(std::int32_t step)>;

// The answer is meaningless once `budget` is stopped.
NestedAnswer ToAnswer(const NestedSteps& steps, const NestedState::Answer& decided,
                      const FlavorSnapshot& snapshot, const Verdict& verdict, WorkBudget& budget);

}  // namespace espalier
