#include "fallback_cpu/leaf_counter.hpp"

#include <algorithm>

namespace espalier {
namespace {

RequestView ViewOf(const RequestVector& vector) {
  return {static_cast<std::int32_t>(vector.names.size()), vector.columns.data(),
          vector.amounts.data()};
}

// Requests that bulk counting takes: positive, on a column of the snapshot, within exact range.
// Zero requests allow everything and are left out by the caller.
bool FitsBulk(const FlavorState& state, std::int32_t column, Amount amount) {
  return amount > 0 && amount < kExactLimit && column >= 0 && state.Magnitude(column) < kExactLimit;
}

}  // namespace

LeafCounter::LeafCounter(const PlacementJob& job)
    : job_(job),
      tree_(job.state->snapshot().tree()),
      first_leaf_(tree_.LevelBegin(tree_.lowest())) {
  const FlavorSnapshot& snapshot = job.state->snapshot();
  for (const AssumedLeaf& assumed : job.assumed) {
    assumed_leaves_.push_back(assumed.leaf.value);
    assumed_amounts_.insert(assumed_amounts_.end(), assumed.amounts.begin(), assumed.amounts.end());
  }
  input_.capacity = {job.simulate_empty ? snapshot.free().data() : job.state->remaining().data(),
                     snapshot.stride()};
  input_.assumed = {static_cast<std::int32_t>(assumed_leaves_.size()), assumed_leaves_.data(),
                    assumed_amounts_.data(),
                    static_cast<std::int32_t>(snapshot.resources().size())};
  input_.workers = ViewOf(job.shape->workers);
  input_.leader = ViewOf(job.shape->leader);
  input_.leader_on_workers = job.shape->leader_on_workers.data();
  const NodeFilter* filter = job.shape->filter.get();
  input_.matches = filter == nullptr || filter->matches.empty() ? nullptr : filter->matches.data();
  input_.domain = job.replacement_domain;
  bulk_ = BindBulk();
}

bool LeafCounter::BindBulk() {
  if (input_.domain.begin != 0 || input_.domain.end != tree_.leaf_count()) return false;
  const auto column_of = [&](std::int32_t column) {
    return input_.capacity.amounts + column * input_.capacity.stride;
  };
  const RequestVector& workers = job_.shape->workers;
  if (workers.amounts.size() > kMaxBulkResources) return false;
  for (std::size_t i = 0; i < workers.amounts.size(); ++i) {
    const Amount amount = workers.amounts[i];
    const std::int32_t column = workers.columns[i];
    const Amount leader = input_.leader.size > 0 ? job_.shape->leader_on_workers[i] : 0;
    if (!FitsBulk(*job_.state, column, amount) || leader < 0 || leader >= kExactLimit) {
      return false;
    }
    request_.workers.push_back(
        {column_of(column), amount, BulkInverse(amount), static_cast<double>(leader)});
  }
  const RequestVector& leader = job_.shape->leader;
  for (std::size_t i = 0; i < leader.amounts.size(); ++i) {
    if (!FitsBulk(*job_.state, leader.columns[i], leader.amounts[i])) return false;
    request_.leader.push_back({column_of(leader.columns[i]), leader.amounts[i], 0, 0});
  }
  request_.matches = input_.matches;
  return true;
}

template <class Visit>
void LeafCounter::ForAssumed(DomainRange range, const Visit& visit) const {
  for (auto it = std::ranges::lower_bound(assumed_leaves_, range.begin);
       it != assumed_leaves_.end() && *it < range.end; ++it) {
    visit(*it);
  }
}

void LeafCounter::Count(DomainRange range, const CountsView& out) const {
  const SliceRule& slice = job_.shape->slice;
  if (!bulk_) {
    for (std::int32_t leaf = range.begin; leaf < range.end; ++leaf) {
      StoreLeaf(tree_, slice, input_, out, leaf);
    }
    return;
  }
  const bool leader = out.leaders != nullptr;
  ActiveBulkCounts().count(request_, range.begin, range.end, out.pods + first_leaf_,
                           leader ? out.pods_with_leader + first_leaf_ : nullptr,
                           leader ? out.leaders + first_leaf_ : nullptr);
  if (out.slices != out.pods) {  // R8.1
    const bool sliced = slice.level == tree_.lowest();
    for (std::int32_t d = first_leaf_ + range.begin; d < first_leaf_ + range.end; ++d) {
      out.slices[d] = sliced ? Store(out.pods[d] / slice.size) : 0;
      if (leader) {
        out.slices_with_leader[d] = sliced ? Store(out.pods_with_leader[d] / slice.size) : 0;
      }
    }
  }
  ForAssumed(range, [&](std::int32_t leaf) { StoreLeaf(tree_, slice, input_, out, leaf); });
}

std::int64_t LeafCounter::CountLimited(DomainRange range, std::int32_t* limited_by) const {
  std::int64_t outside = 0;
  const auto add = [&](std::int32_t leaf) {
    const bool matches = Matches(input_, leaf);
    const bool inside = InsideDomain(input_, leaf);
    const std::int16_t reason =
        ExclusionOf(matches, inside, matches && inside ? CountLeaf(input_, leaf) : LeafCounts{});
    if (reason == kOutsideDomain) ++outside;
    if (reason >= 0) ++limited_by[reason];
  };
  if (!bulk_) {
    for (std::int32_t leaf = range.begin; leaf < range.end; ++leaf) add(leaf);
    return outside;
  }
  // Leaves with assumed usage split the bulk.
  std::int32_t begin = range.begin;
  ForAssumed(range, [&](std::int32_t leaf) {
    ActiveBulkCounts().limit(request_, begin, leaf, limited_by);
    add(leaf);
    begin = leaf + 1;
  });
  ActiveBulkCounts().limit(request_, begin, range.end, limited_by);
  return outside;
}

}  // namespace espalier
