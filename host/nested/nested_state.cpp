#include "host/nested/nested_state.hpp"

#include <algorithm>
#include <utility>

namespace espalier {
namespace {

// Bytes of counts that are kept.
constexpr std::int64_t kMostCountsBytes = std::int64_t{256} << 20;

}  // namespace

NestedState::NestedState(const FlavorState& state, bool empty, bool totals, WorkBudget& budget)
    : flavor_(state), empty_(empty), totals_(totals), budget_(budget) {}

// Returns where a column of the snapshot lies among those that are asked for; -1 stays -1.
std::int32_t NestedState::Column(std::int32_t column) {
  if (column < 0) return column;
  const auto next = static_cast<std::int32_t>(column_of_.size());
  const auto [known, added] = column_of_.emplace(column, next);
  if (!added) return known->second;
  const FlavorSnapshot& snapshot = flavor_.snapshot();
  const auto leaves = static_cast<std::size_t>(snapshot.leaf_count());
  const auto begin = static_cast<std::size_t>(column) * static_cast<std::size_t>(snapshot.stride());
  const auto append = [&](const PagedArray<Amount>& from, std::vector<Amount>& to) {
    to.reserve(to.size() + leaves);
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) to.push_back(from[begin + leaf]);
    const auto bytes = static_cast<std::int64_t>(leaves * sizeof(Amount));
    budget_.Charge(bytes);
    charged_ += bytes;
  };
  append(empty_ ? flavor_.free() : flavor_.remaining(), amounts_);
  if (totals_) append(flavor_.free(), total_);
  return next;
}

NestedState::Counts& NestedState::CountsOf(const std::shared_ptr<const PodShape>& shape) {
  const auto known = counts_.find(shape);
  if (known != counts_.end()) return known->second;
  Counts counts;
  counts.filter = flavor_.snapshot().FilterOf(*shape, budget_);
  for (const std::int32_t column : shape->workers.columns) counts.columns.push_back(Column(column));
  counts.pods.resize(static_cast<std::size_t>(flavor_.snapshot().domain_count()));
  const auto bytes = static_cast<std::int64_t>(counts.pods.size() * sizeof(StoredCount));
  budget_.Charge(bytes);
  charged_ += bytes;
  return counts_.emplace(shape, std::move(counts)).first->second;
}

NestedShape NestedState::View(const PodShape& shape, Counts& counts,
                              std::vector<std::int32_t>& stale) const {
  NestedShape view;
  view.request = {static_cast<std::int32_t>(counts.columns.size()), counts.columns.data(),
                  shape.workers.amounts.data()};
  const bool filtered = counts.filter != nullptr && !counts.filter->matches.empty();
  view.matches = filtered ? counts.filter->matches.data() : nullptr;
  view.pods = counts.pods.data();
  const std::size_t behind = changed_.size() - counts.known;
  if (!counts.counted || behind > counts.pods.size() / 4) {
    view.stale_count = kAllStale;
  } else {
    stale.assign(changed_.begin() + static_cast<std::ptrdiff_t>(counts.known), changed_.end());
    std::ranges::sort(stale);
    stale.erase(std::unique(stale.begin(), stale.end()), stale.end());
    view.stale = stale.data();
    view.stale_count = static_cast<std::int32_t>(stale.size());
  }
  return view;
}

void NestedState::NoteChanged(std::span<const Share> takes) {
  for (const Share& take : takes) changed_.push_back(take.domain);
}

NestedState::Answer NestedState::Run(NestedRunner& runner, const NestedSteps& steps,
                                     NestedOrder order) {
  if (static_cast<std::int64_t>(counts_.size() * sizeof(StoredCount)) *
          flavor_.snapshot().domain_count() >
      kMostCountsBytes) {
    counts_.clear();
    changed_.clear();
  }
  // Columns first: amounts may move.
  std::vector<Counts*> counts;
  for (const auto& shape : steps.shapes) CountsOf(shape);
  for (const auto& shape : steps.shapes) counts.push_back(&CountsOf(shape));
  std::vector<NestedShape> shapes;
  std::vector<std::vector<std::int32_t>> stale(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    shapes.push_back(View(*steps.shapes[i], *counts[i], stale[i]));
  }
  Answer answer;
  const auto bytes = static_cast<std::int64_t>(steps.steps.size() * sizeof(NestedChoice) +
                                               static_cast<std::size_t>(steps.most_takes) *
                                                   (sizeof(Share) + sizeof(std::int32_t)));
  if (!budget_.Charge(bytes)) return answer;
  answer.choices.resize(steps.steps.size());
  answer.takes.resize(static_cast<std::size_t>(steps.most_takes));
  answer.take_step.resize(answer.takes.size());
  NestedRun run;
  run.space.tree = flavor_.snapshot().tree();
  run.space.amounts = amounts_.data();
  run.space.total = totals_ ? total_.data() : nullptr;
  run.space.stride = flavor_.snapshot().leaf_count();
  run.space.column_count = static_cast<std::int32_t>(column_of_.size());
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
  answer.result = runner.Run(run);
  if (budget_.stopped()) return Answer{};
  answer.takes.resize(static_cast<std::size_t>(answer.result.take_count));
  answer.take_step.resize(answer.takes.size());
  budget_.Release(bytes);
  NoteChanged(answer.takes);
  for (Counts* known : counts) {
    known->known = changed_.size();
    known->counted = true;
  }
  return answer;
}

void NestedState::TakeBack(const NestedSteps& steps, const Answer& answer) {
  const auto leaves = static_cast<std::size_t>(flavor_.snapshot().leaf_count());
  for (std::size_t i = 0; i < answer.takes.size() && budget_.MayContinue(); ++i) {
    const NestedStep& step = steps.steps[static_cast<std::size_t>(answer.take_step[i])];
    const auto& shape = steps.shapes[static_cast<std::size_t>(step.shape)];
    const Counts& counts = counts_.at(shape);
    for (std::size_t r = 0; r < counts.columns.size(); ++r) {
      if (counts.columns[r] < 0) continue;
      amounts_[static_cast<std::size_t>(counts.columns[r]) * leaves +
               static_cast<std::size_t>(answer.takes[i].domain)] +=
          answer.takes[i].pods * shape->workers.amounts[r];
    }
  }
  NoteChanged(answer.takes);
}

}  // namespace espalier
