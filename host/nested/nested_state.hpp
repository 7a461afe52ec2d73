// Counts of one flavor while nested gangs are placed on it one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/engine/counts_storage.hpp"
#include "host/model/work_budget.hpp"
#include "host/nested/nested_runner.hpp"
#include "host/nested/nested_steps.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

// Keeps the counts of each shape that was requested, and counts only changed leaves again.
class NestedState {
 public:
  // Reads what is free on `state` or, with `empty`, its capacity without usage. `state` must
  // outlive this object and change only by what Run books into `booked`, which is null or that
  // state.
  NestedState(const FlavorState& state, FlavorState* booked, bool empty, WorkBudget& budget);
  ~NestedState() { budget_.Release(charged_); }
  NestedState(const NestedState&) = delete;
  NestedState& operator=(const NestedState&) = delete;

  // The answer to a request: choices by step, and takes with the steps that took them.
  struct Answer {
    NestedResult result;
    std::vector<NestedChoice> choices;
    std::vector<Share> takes;
    std::vector<std::int32_t> take_step;
  };
  // Decides a request, and books what it takes if there is something to book into. Decides nothing
  // once the budget is stopped.
  Answer Run(NestedRunner& runner, const NestedSteps& steps, NestedOrder order);

 private:
  // Counts of one shape, and how many entries of the list of changed leaves they include.
  struct Counts {
    std::shared_ptr<const NodeFilter> filter;  // null: every leaf
    CountsStorage domains;
    std::size_t known = 0;
    bool counted = false;
  };

  void Charge(std::int64_t bytes);
  void ForgetWhatIsMuch();
  Counts& CountsOf(const std::shared_ptr<const PodShape>& shape);
  void Refresh(NestedRunner& runner, const std::shared_ptr<const PodShape>& shape, Counts& counts,
               std::vector<std::int32_t>& stale) const;
  NestedResult Decide(NestedRunner& runner, const NestedSteps& steps, NestedOrder order,
                      std::span<const NestedShape> shapes, Answer& answer);
  void Book(const NestedSteps& steps, const Answer& answer);

  const FlavorState& flavor_;
  FlavorState* const booked_;
  const bool empty_;
  WorkBudget& budget_;
  std::int64_t charged_ = 0;
  std::vector<std::int32_t> row_of_;   // as in ChangedLeaves; between requests no leaf has a row
  std::vector<std::int32_t> changed_;  // leaves, in the order in which they changed
  std::unordered_map<std::shared_ptr<const PodShape>, Counts> counts_;
};

}  // namespace espalier
