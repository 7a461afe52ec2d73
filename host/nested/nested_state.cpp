#include "host/nested/nested_state.hpp"

#include <algorithm>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/packing/large_array.hpp"

namespace espalier {
namespace {

// Bytes of counts that are kept.
constexpr std::int64_t kMostCountsBytes = std::int64_t{256} << 20;

// Where more than one in this many leaves has changed, it is sooner to count all of them anew.
constexpr std::size_t kWorthCountingAnew = 4;

}  // namespace

NestedState::NestedState(const FlavorState& state, FlavorState* booked, bool empty,
                         WorkBudget& budget)
    : flavor_(state), booked_(booked), empty_(empty), budget_(budget) {}

void NestedState::Charge(std::int64_t bytes) {
  budget_.Charge(bytes);
  charged_ += bytes;
}

// Bounds what is kept: counts in bytes, and changed leaves in number.
void NestedState::ForgetWhatIsMuch() {
  const auto bytes = static_cast<std::int64_t>(counts_.size() * sizeof(StoredCount)) *
                     flavor_.snapshot().domain_count();
  if (bytes > kMostCountsBytes) {
    counts_.clear();
    changed_.clear();
    budget_.Release(bytes);
    charged_ -= bytes;
  }
  if (changed_.size() > row_of_.size()) {
    for (auto& [shape, counts] : counts_) {
      counts.counted = counts.counted && counts.known == changed_.size();
      counts.known = 0;
    }
    changed_.clear();
  }
}

NestedState::Counts& NestedState::CountsOf(const std::shared_ptr<const PodShape>& shape) {
  const auto known = counts_.find(shape);
  if (known != counts_.end()) return known->second;
  Counts counts;
  counts.filter = flavor_.snapshot().FilterOf(*shape, budget_);
  Charge(flavor_.snapshot().domain_count() * std::int64_t{sizeof(StoredCount)});
  return counts_.emplace(shape, std::move(counts)).first->second;
}

// Brings counts up to date but for the leaves in `stale`, ascending, each once.
void NestedState::Refresh(NestedRunner& runner, const std::shared_ptr<const PodShape>& shape,
                          Counts& counts, std::vector<std::int32_t>& stale) const {
  const std::size_t behind = changed_.size() - counts.known;
  if (counts.counted && behind <= row_of_.size() / kWorthCountingAnew) {
    stale.assign(changed_.begin() + static_cast<std::ptrdiff_t>(counts.known), changed_.end());
    std::ranges::sort(stale);
    stale.erase(std::unique(stale.begin(), stale.end()), stale.end());
    return;
  }
  PlacementJob job;
  job.state = &flavor_;
  job.shape = shape;
  job.filter = counts.filter;
  job.simulate_empty = empty_;
  job.replacement_domain = {0, flavor_.snapshot().leaf_count()};
  job.budget = &budget_;
  runner.CountDomains(job, counts.domains);
}

NestedState::Answer NestedState::Run(NestedRunner& runner, const NestedSteps& steps,
                                     NestedOrder order) {
  const auto leaves = static_cast<std::size_t>(flavor_.snapshot().leaf_count());
  if (row_of_.size() != leaves) {
    Charge(static_cast<std::int64_t>(leaves * sizeof(std::int32_t)));
    row_of_.assign(leaves, -1);
  }
  ForgetWhatIsMuch();
  std::vector<Counts*> counts;
  std::vector<NestedShape> shapes;
  std::vector<std::vector<std::int32_t>> stale(steps.shapes.size());
  for (std::size_t i = 0; i < stale.size(); ++i) {
    const std::shared_ptr<const PodShape>& shape = steps.shapes[i];
    counts.push_back(&CountsOf(shape));
    Counts& of_shape = *counts.back();
    Refresh(runner, shape, of_shape, stale[i]);
    const bool filtered = of_shape.filter != nullptr && !of_shape.filter->matches.empty();
    shapes.push_back({.request = {static_cast<std::int32_t>(shape->workers.columns.size()),
                                  shape->workers.columns.data(), shape->workers.amounts.data()},
                      .matches = filtered ? of_shape.filter->matches.data() : nullptr,
                      .pods = of_shape.domains.View().pods,
                      .stale = stale[i].data(),
                      .stale_count = static_cast<std::int32_t>(stale[i].size())});
  }
  Answer answer;
  answer.result = Decide(runner, steps, order, shapes, answer);
  if (budget_.stopped()) return Answer{};
  for (Counts* of_shape : counts) {
    of_shape->known = changed_.size();
    of_shape->counted = true;
  }
  for (const Share& take : answer.takes) {
    row_of_[static_cast<std::size_t>(take.domain)] = -1;
    changed_.push_back(take.domain);
  }
  if (booked_ == nullptr) return answer;
  Book(steps, answer);
  for (Counts* of_shape : counts) of_shape->known = changed_.size();
  return answer;
}

NestedResult NestedState::Decide(NestedRunner& runner, const NestedSteps& steps, NestedOrder order,
                                 std::span<const NestedShape> shapes, Answer& answer) {
  const FlavorSnapshot& snapshot = flavor_.snapshot();
  const auto takes = static_cast<std::size_t>(steps.most_takes);
  const std::size_t columns = snapshot.resources().size();
  const auto bytes = static_cast<std::int64_t>(
      steps.steps.size() * sizeof(NestedChoice) +
      takes * (sizeof(Share) + sizeof(std::int32_t) + columns * sizeof(Amount)));
  if (!budget_.Charge(bytes)) return {};
  answer.choices.resize(steps.steps.size());
  answer.takes.resize(takes);
  answer.take_step.resize(takes);
  LargeArray<Amount> rows(takes * columns);
  const auto& capacity = empty_ ? flavor_.free() : flavor_.remaining();
  NestedRun run;
  run.space.tree = snapshot.tree();
  run.space.capacity = {capacity.data(), snapshot.stride()};
  run.space.total = {flavor_.free().data(), snapshot.stride()};
  run.space.changed = {row_of_.data(), rows.data(), static_cast<std::int32_t>(columns)};
  run.space.shapes = shapes.data();
  run.space.shape_count = static_cast<std::int32_t>(shapes.size());
  run.steps = steps.steps.data();
  run.step_count = static_cast<std::int32_t>(steps.steps.size());
  run.needs = steps.needs.data();
  run.need_count = static_cast<std::int32_t>(steps.needs.size());
  run.rank_order = steps.rank_order.data();
  run.rank_order_count = static_cast<std::int32_t>(steps.rank_order.size());
  run.order = order;
  run.siblings = order == NestedOrder::kTightestFit && !steps.uniform;
  run.most_trials = kMostTrials;
  run.most_sibling_trials = kMostSiblingTrials;
  run.choices = answer.choices.data();
  run.takes = answer.takes.data();
  run.take_step = answer.take_step.data();
  run.take_capacity = steps.most_takes;
  run.waited_for = [](void* budget) { return static_cast<WorkBudget*>(budget)->MayContinue(); };
  run.waiting = &budget_;
  const NestedResult result = runner.Run(run);
  answer.takes.resize(static_cast<std::size_t>(result.take_count));
  answer.take_step.resize(answer.takes.size());
  budget_.Release(bytes);
  return result;
}

void NestedState::Book(const NestedSteps& steps, const Answer& answer) {
  std::vector<std::vector<LeafShare>> shares(steps.shapes.size());
  for (std::size_t i = 0; i < answer.takes.size(); ++i) {
    const NestedStep& step = steps.steps[static_cast<std::size_t>(answer.take_step[i])];
    const Share& take = answer.takes[i];
    shares[static_cast<std::size_t>(step.shape)].push_back({LeafId(take.domain), 0, take.pods});
  }
  for (std::size_t s = 0; s < shares.size(); ++s) {
    booked_->Book(MergeShares({}, shares[s]), *steps.shapes[s]);
  }
}

}  // namespace espalier
