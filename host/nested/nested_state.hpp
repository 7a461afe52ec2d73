// Capacity and counts of one flavor while nested gangs are placed on it one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/model/work_budget.hpp"
#include "host/nested/nested_runner.hpp"
#include "host/nested/nested_steps.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

// Keeps the counts of each shape that was requested, and counts only changed leaves again.
class NestedState {
 public:
  // Copies what is free on `state` now or, with `empty`, its capacity without usage. `state` must
  // outlive this object and change only by what Run leaves placed. With `totals` the capacity
  // without usage is kept too.
  NestedState(const FlavorState& state, bool empty, bool totals, WorkBudget& budget);
  ~NestedState() { budget_.Release(charged_); }
  NestedState(const NestedState&) = delete;
  NestedState& operator=(const NestedState&) = delete;

  const FlavorState& flavor() const { return flavor_; }

  // The answer to a request: choices by step, and takes with the steps that took them.
  struct Answer {
    NestedResult result;
    std::vector<NestedChoice> choices;
    std::vector<Share> takes;
    std::vector<std::int32_t> take_step;
  };
  // Decides a request. What it takes stays placed until TakeBack. Places nothing once the budget is
  // stopped.
  Answer Run(NestedRunner& runner, const NestedSteps& steps, NestedOrder order);
  void TakeBack(const NestedSteps& steps, const Answer& answer);

 private:
  // Counts of one shape, and how many entries of the list of changed leaves they include.
  struct Counts {
    std::shared_ptr<const NodeFilter> filter;  // null: every leaf
    std::vector<std::int32_t> columns;
    std::vector<StoredCount> pods;
    std::size_t known = 0;
    bool counted = false;
  };

  std::int32_t Column(std::int32_t column);
  Counts& CountsOf(const std::shared_ptr<const PodShape>& shape);
  NestedShape View(const PodShape& shape, Counts& counts, std::vector<std::int32_t>& stale) const;
  void NoteChanged(std::span<const Share> takes);

  const FlavorState& flavor_;
  const bool empty_;
  const bool totals_;
  WorkBudget& budget_;
  std::int64_t charged_ = 0;
  std::unordered_map<std::int32_t, std::int32_t>
      column_of_;                // column of the snapshot -> column of amounts_, for requested ones
  std::vector<Amount> amounts_;  // [columns asked for][leaves]
  std::vector<Amount> total_;    // the capacity without usage, with `totals`
  std::vector<std::int32_t> changed_;  // leaves, in the order in which they changed
  std::unordered_map<std::shared_ptr<const PodShape>, Counts> counts_;
};

}  // namespace espalier
