#include "fallback_cpu/leaf_counter.hpp"

#include <algorithm>
#include <limits>

namespace espalier {
namespace {

RequestView ViewOf(const RequestVector& vector) {
  return {static_cast<std::int32_t>(vector.names.size()), vector.columns.data(),
          vector.amounts.data()};
}

}  // namespace

LeafCounter::LeafCounter(const PlacementJob& job)
    : state_(*job.state),
      shape_(*job.shape),
      simulate_empty_(job.simulate_empty),
      range_version_(job.state->range_version()),
      tree_(job.state->snapshot().tree()),
      first_leaf_(tree_.LevelBegin(tree_.lowest())) {
  const FlavorSnapshot& snapshot = state_.snapshot();
  input_.capacity = {simulate_empty_ ? state_.free().data() : state_.remaining().data(),
                     snapshot.stride()};
  input_.workers = ViewOf(shape_.workers);
  input_.leader = ViewOf(shape_.leader);
  input_.leader_on_workers = shape_.leader_on_workers.data();
  const NodeFilter* filter = shape_.filter.get();
  input_.matches = filter == nullptr || filter->matches.empty() ? nullptr : filter->matches.data();
  input_.domain = job.replacement_domain;
  bulk_ = BindBulk();
  sums_ = bulk_ && BindSums();
  if (sums_) {
    layout_ = {tree_.child_begin + tree_.LevelBegin(tree_.lowest() - 1), first_leaf_,
               snapshot.block_width() == TiledCapacity::kTileLeaves};
  }
}

bool LeafCounter::BindEntry(std::int32_t column, Amount request, Amount leader,
                            BulkRequest::Vector& vector) {
  if (request < 0 || leader < 0 || column < 0) return false;
  if (request == 0) return true;  // allows everything (R5.9)
  const TiledCapacity& tiles = state_.tiles();
  const int shift = tiles.UnitShift(column);
  const Amount part_of_unit = (Amount{1} << shift) - 1;
  if (!simulate_empty_ && tiles.Exact(column) && ((request | leader) & part_of_unit) == 0) {
    vector.order.push_back(static_cast<std::int32_t>(vector.narrow.size()));
    vector.narrow.push_back({column * TiledCapacity::kTileLeaves, NarrowInverse(request >> shift),
                             static_cast<float>(request >> shift),
                             static_cast<float>(leader >> shift)});
    return true;
  }
  if (request >= kWideLimit || leader >= kWideLimit || state_.Magnitude(column) >= kWideLimit) {
    return false;
  }
  vector.order.push_back(~static_cast<std::int32_t>(vector.wide.size()));
  vector.wide.push_back({input_.capacity.amounts + column * input_.capacity.stride,
                         WideInverse(request), static_cast<double>(request),
                         static_cast<double>(leader)});
  return true;
}

bool LeafCounter::BindBulk() {
  if (input_.domain.begin != 0 || input_.domain.end != tree_.leaf_count()) return false;
  const RequestVector& workers = shape_.workers;
  const RequestVector& leader = shape_.leader;
  if (workers.amounts.size() > kMaxBulkResources) return false;
  for (std::size_t i = 0; i < workers.amounts.size(); ++i) {
    const Amount beside = leader.amounts.empty() ? 0 : shape_.leader_on_workers[i];
    if (!BindEntry(workers.columns[i], workers.amounts[i], beside, request_.workers)) return false;
    if (request_.workers.resource.size() < request_.workers.order.size()) {
      request_.workers.resource.push_back(static_cast<std::int32_t>(i));
    }
  }
  for (std::size_t i = 0; i < leader.amounts.size(); ++i) {
    if (!BindEntry(leader.columns[i], leader.amounts[i], 0, request_.leader)) return false;
  }
  request_.tiles = state_.tiles().Tile(0);
  request_.tile_stride = state_.tiles().tile_stride();
  if (!request_.workers.narrow.empty()) {
    request_.most = state_.tiles().Most();
    request_.least_most = state_.tiles().LeastMost();
  }
  request_.leaf_count = tree_.leaf_count();
  request_.matches = input_.matches;
  return !request_.workers.order.empty() &&
         (leader.amounts.empty() || !request_.leader.order.empty());
}

bool LeafCounter::BindSums() const {
  const SliceRule& slice = shape_.slice;
  if (tree_.level_count == 1 || input_.leader.size > 0 || slice.size != 1 ||
      slice.level != tree_.lowest() || slice.layer_count > 1) {
    return false;
  }
  Amount most = kMaxFit;
  for (const std::int32_t i : request_.workers.resource) {
    const auto at = static_cast<std::size_t>(i);
    most =
        std::min(most, state_.Magnitude(shape_.workers.columns[at]) / shape_.workers.amounts[at]);
  }
  return most * tree_.leaf_count() <= kMaxStored;
}

void LeafCounter::Assume(const AssumedLeaves& assumed) {
  assumed_leaves_.clear();
  assumed_amounts_.clear();
  for (const AssumedLeaf& leaf : assumed) {
    assumed_leaves_.push_back(leaf.leaf.value);
    assumed_amounts_.insert(assumed_amounts_.end(), leaf.amounts.begin(), leaf.amounts.end());
  }
  input_.assumed = {static_cast<std::int32_t>(assumed_leaves_.size()), assumed_leaves_.data(),
                    assumed_amounts_.data(),
                    static_cast<std::int32_t>(state_.snapshot().resources().size())};
}

template <class Visit>
void LeafCounter::ForAssumed(DomainRange range, const Visit& visit) const {
  for (auto it = std::ranges::lower_bound(assumed_leaves_, range.begin);
       it != assumed_leaves_.end() && *it < range.end; ++it) {
    visit(*it);
  }
}

void LeafCounter::Count(DomainRange range, const CountsView& out) const {
  const SliceRule& slice = shape_.slice;
  if (!bulk_) {
    for (std::int32_t leaf = range.begin; leaf < range.end; ++leaf) {
      StoreLeaf(tree_, slice, input_, out, leaf);
    }
    return;
  }
  const bool leader = out.leaders != nullptr;
  LeafColumns columns;
  columns.pods = out.pods + first_leaf_;
  if (leader) {
    columns.pods_with_leader = out.pods_with_leader + first_leaf_;
    columns.leaders = out.leaders + first_leaf_;
  }
  ActiveBulkCounts().count(request_, range.begin, range.end, columns);
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

void LeafCounter::SumBlocks(const Blocks& blocks, StoredCount* sums) const {
  ActiveBulkCounts().sum(request_, layout_, blocks, sums);
}

// Leaf by leaf.
void LeafCounter::LimitTile(std::int32_t tile, const LeafLimits& limits) const {
  const std::int32_t begin = tile * TiledCapacity::kTileLeaves;
  const std::int32_t end = std::min(begin + TiledCapacity::kTileLeaves, tree_.leaf_count());
  std::uint8_t now[TiledCapacity::kTileLeaves];
  std::fill_n(now, TiledCapacity::kTileLeaves, static_cast<std::uint8_t>(limits.None()));
  for (std::int32_t leaf = begin; leaf < end; ++leaf) {
    const bool matches = Matches(input_, leaf);
    const bool inside = InsideDomain(input_, leaf);
    const std::int16_t reason =
        ExclusionOf(matches, inside, matches && inside ? CountLeaf(input_, leaf) : LeafCounts{});
    const std::int32_t limit = reason == kOutsideDomain ? limits.OutsideDomain()
                               : reason < 0             ? limits.None()
                                                        : reason;
    if (limits.of_leaf == nullptr) ++limits.sums[limit];
    now[leaf - begin] = static_cast<std::uint8_t>(limit);
  }
  if (limits.of_leaf != nullptr) limits.Set(tile, now);
}

std::optional<BulkRequest> LeafCounter::OfClasses(const LeafClasses& classes) const {
  if (!bulk_ || !request_.workers.wide.empty()) return std::nullopt;  // classes are of units
  BulkRequest request = request_;
  request.matches = nullptr;
  request.tiles = classes.tiles();
  request.most = nullptr;
  request.leaf_count = classes.count();
  return request;
}

bool LeafCounter::SumClasses(const LeafClasses& classes, StoredCount* sums) const {
  const std::optional<BulkRequest> request = OfClasses(classes);
  if (!request) return false;
  ClassTable table;
  StoredCount pods[LeafClasses::kMostClasses];
  table.classes = classes.count();
  ActiveBulkCounts().count(*request, 0, table.classes, {pods, nullptr, nullptr});
  for (std::int32_t c = 0; c < table.classes; ++c) {
    if (pods[c] > std::numeric_limits<std::uint8_t>::max()) return false;
    table.values[c] = static_cast<std::uint8_t>(pods[c]);
  }
  ActiveBulkCounts().sum_classes(table, classes.of_leaf().data(), request_.matches, layout_,
                                 state_.snapshot().block_count(), sums);
  return true;
}

bool LeafCounter::LimitClasses(const LeafClasses& classes, ClassTable& limits,
                               std::span<std::int64_t> sums) const {
  if (request_.matches != nullptr) return false;
  const std::optional<BulkRequest> request = OfClasses(classes);
  if (!request) return false;
  std::vector<std::int64_t> classes_limited(sums.size(), 0);
  const LeafLimits of_classes = {static_cast<std::int32_t>(sums.size()) - 2, limits.values, true,
                                 classes_limited.data()};
  limits.classes = classes.count();
  std::ranges::fill(limits.values, static_cast<std::uint8_t>(of_classes.None()));
  const std::size_t count = classes.leaves().size();
  const std::size_t tiles = (count + TiledCapacity::kTileLeaves - 1) / TiledCapacity::kTileLeaves;
  ActiveBulkCounts().limit(*request, {nullptr, 0, static_cast<std::int32_t>(tiles)}, of_classes);
  std::ranges::fill(sums, 0);
  for (std::size_t c = 0; c < count; ++c) sums[limits.values[c]] += classes.leaves()[c];
  return true;
}

void LeafCounter::CountLimited(const Blocks& tiles, const LeafLimits& limits) const {
  if (bulk_ && assumed_leaves_.empty()) {
    return ActiveBulkCounts().limit(request_, tiles, limits);
  }
  for (std::int32_t i = 0; i < tiles.count; ++i) LimitTile(tiles[i], limits);
}

}  // namespace espalier
