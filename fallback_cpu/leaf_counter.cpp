#include "fallback_cpu/leaf_counter.hpp"

#include <algorithm>
#include <limits>

#include "host/packing/reciprocals.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {

LeafCounter::LeafCounter(const PlacementJob& job)
    : state_(*job.state),
      shape_(*job.shape),
      filter_(job.filter),
      simulate_empty_(job.simulate_empty),
      identity_(job.state->identity()),
      range_version_(job.state->range_version()),
      tree_(job.state->snapshot().tree()),
      first_leaf_(tree_.LevelBegin(tree_.lowest())) {
  input_ = MakeLeafInput(job, assumed_);
  bulk_ = !IsPartial(job) && BindBulk();
  small_ = bulk_ && tree_.level_count > 1 && IsSmall();
  sums_ = small_ && input_.leader.size == 0 && shape_.slice.IsOnePod(tree_.lowest());
  if (small_) {
    layout_ = {tree_.child_begin + tree_.LevelBegin(tree_.lowest() - 1), first_leaf_,
               state_.snapshot().group_width() == TiledCapacity::kTileLeaves};
  }
}

bool LeafCounter::BindEntry(std::int32_t column, Amount request, Amount leader,
                            BulkRequest::Vector& vector) {
  if (request < 0 || leader < 0 || column < 0) return false;
  if (request == 0) return true;  // allows everything (R5.9)
  const TiledCapacity& tiles = state_.tiles();
  const int shift = tiles.UnitShift(column);
  if (!simulate_empty_ && IsWholeUnits(tiles, column, request, leader)) {
    vector.order.push_back(static_cast<std::int32_t>(vector.narrow.size()));
    vector.narrow.push_back(
        {column * TiledCapacity::kTileLeaves, Reciprocal<float>(request >> shift),
         static_cast<float>(request >> shift), static_cast<float>(leader >> shift)});
    return true;
  }
  if (request >= kExactAmount || leader >= kExactAmount ||
      state_.Magnitude(column) >= kExactAmount) {
    return false;
  }
  vector.order.push_back(~static_cast<std::int32_t>(vector.wide.size()));
  vector.wide.push_back({input_.capacity.amounts + column * input_.capacity.stride,
                         Reciprocal<double>(request), static_cast<double>(request),
                         static_cast<double>(leader)});
  return true;
}

bool LeafCounter::BindBulk() {
  if (shape_.slice.size >= kExactAmount) return false;
  slice_inverse_ = Reciprocal<double>(shape_.slice.size);
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
    request_.min_tile_max = state_.tiles().MinTileMax();
  }
  request_.matches = input_.matches;
  return !request_.workers.order.empty() &&
         (leader.amounts.empty() || !request_.leader.order.empty());
}

bool LeafCounter::IsSmall() const {
  Amount most = kMaxFit;
  for (const std::int32_t i : request_.workers.resource) {
    const auto at = static_cast<std::size_t>(i);
    most =
        std::min(most, state_.Magnitude(shape_.workers.columns[at]) / shape_.workers.amounts[at]);
  }
  return most * tree_.leaf_count() < kMaxStored;
}

void LeafCounter::Assume(const PlacementJob& job) {
  assumed_.Set(job.assumed);
  input_.assumed = MakeLeafInput(job, assumed_).assumed;
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
  ActiveSimdImplementation().count(request_, range.begin, range.end, columns);
  if (out.slices != out.pods) {  // R8.1
    const std::int32_t first = first_leaf_ + range.begin;
    const auto set = [&](const StoredCount* pods, StoredCount* slices) {
      if (slice.level != tree_.lowest()) {
        std::fill_n(slices + first, range.size(), 0);
      } else {
        ActiveSimdImplementation().divide(pods + first, range.size(), slice_inverse_,
                                          slices + first);
      }
    };
    set(out.pods, out.slices);
    if (leader) set(out.pods_with_leader, out.slices_with_leader);
  }
  for (auto it = std::ranges::lower_bound(assumed_.leaves, range.begin);  // counted one by one
       it != assumed_.leaves.end() && *it < range.end; ++it) {
    StoreLeaf(tree_, slice, input_, out, *it);
  }
}

void LeafCounter::SumGroups(const LeafGroups& groups, StoredCount* sums) const {
  ActiveSimdImplementation().sum(request_, layout_, groups, sums);
}

bool LeafCounter::SumChildren(const LeafGroups& groups, const CountsView& leaves,
                              ChildSums* sums) const {
  if (!small_ || !assumed_.leaves.empty() || shape_.slice.inner_size[tree_.lowest()] > 0) {
    return false;
  }
  static_assert(CountsStorage::kReadAhead >= SimdImplementation::kReadAhead);
  ActiveSimdImplementation().sum_children(layout_, groups, leaves, sums);
  return true;
}

bool LeafCounter::SumClasses(const LeafClasses& classes, StoredCount* sums) const {
  if (!bulk_ || !request_.workers.wide.empty()) return false;  // classes are of units
  BulkRequest request = request_;
  request.matches = nullptr;
  request.tiles = classes.tiles();
  request.most = nullptr;
  ClassTable table;
  StoredCount pods[LeafClasses::kMostClasses];
  table.classes = classes.count();
  ActiveSimdImplementation().count(request, 0, table.classes, {pods, nullptr, nullptr});
  for (std::int32_t c = 0; c < table.classes; ++c) {
    if (pods[c] > std::numeric_limits<std::uint8_t>::max()) return false;
    table.values[c] = static_cast<std::uint8_t>(pods[c]);
  }
  ActiveSimdImplementation().sum_classes(table, classes.of_leaf().data(), request_.matches, layout_,
                                         state_.snapshot().group_count(), sums);
  return true;
}

bool LeafCounter::FindReasons(DomainRange tiles, std::int16_t* reasons) const {
  if (!bulk_ || !request_.workers.wide.empty()) return false;
  ActiveSimdImplementation().find_reasons_in_tiles(request_, tiles.begin, tiles.size(), reasons);
  return true;
}

bool LeafCounter::CountExcluded(const LeafClasses& classes,
                                std::span<std::int64_t> excluded) const {
  if (!bulk_ || request_.matches != nullptr || !request_.workers.wide.empty()) return false;
  const std::vector<BulkRequest::FloatColumn>& entries = request_.workers.narrow;
  for (std::int32_t c = 0; c < classes.count(); ++c) {
    const float* units =
        classes.tiles() +
        static_cast<std::size_t>(c / TiledCapacity::kTileLeaves) * request_.tile_stride +
        c % TiledCapacity::kTileLeaves;
    const auto lacking = std::ranges::find_if(
        entries, [&](const auto& entry) { return units[entry.row] < entry.request; });
    if (lacking == entries.end()) continue;
    const std::int32_t resource =
        request_.workers.resource[static_cast<std::size_t>(lacking - entries.begin())];
    excluded[static_cast<std::size_t>(resource)] += classes.leaves()[static_cast<std::size_t>(c)];
  }
  return true;
}

void CountAllDomains(const PlacementJob& job, CountsStorage& counts) {
  const TreeView tree = job.state->snapshot().tree();
  const CountsView view = ResizeFor(job, counts);
  LeafCounter counter(job);
  counter.Assume(job);
  counter.Count({0, tree.leaf_count()}, view);
  SerialTeam team;
  RollUp(team, tree, job.shape->slice, view, 0, {0, tree.LevelEnd(0)});
}

}  // namespace espalier
