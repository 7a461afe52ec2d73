#include "host/cuda/wave_counts.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "host/cuda/shape_batch.hpp"

namespace espalier {
namespace {

// Counting more than this part of the groups of leaves one by one is slower than counting all
// leaves.
constexpr std::size_t kWorthListing = 4;

Items PackItems(const std::vector<std::int32_t>& items, Packer& packer) {
  return {static_cast<std::int32_t>(items.size()), 0, packer.Add(items)};
}

// Returns whether counts have arrays of slices and of the leader.
std::pair<bool, bool> ArraysOf(const CountsView& counts) {
  return {counts.slices != counts.pods, counts.leaders != nullptr};
}

}  // namespace

DeviceResult<void> WaveCounts::AddEntry(const PlacementJob& job, DeviceCounts& counts) {
  if (!added_.insert(&counts).second) return {};
  Entry entry;
  entry.counts = &counts;
  entry.job = &job;
  entry.capacity = mirror_->remaining();
  if (job.simulate_empty) {
    const DeviceResult<CapacityView> free = mirror_->Free(*state_);
    if (!free) return tl::unexpected(free.error());
    entry.capacity = *free;
  }
  if (!counts.IsDescribed(job, *mirror_)) {
    const DeviceResult<FilterArrays> filter = mirror_->Filter(job.filter);
    if (!filter) return tl::unexpected(filter.error());
    entry.filter = *filter;
  }
  entries_.push_back(entry);
  return {};
}

DeviceResult<void> WaveCounts::Prepare(DeviceMemory& tables) {
  std::vector<std::int32_t> counted_before;
  std::vector<std::int32_t> whole;
  CountedOn counted_on;
  for (std::int32_t e = 0; e < static_cast<std::int32_t>(entries_.size()); ++e) {
    const DeviceCounts& counts = *At(e).counts;
    if (counts.IsCurrent(*At(e).job)) continue;
    if (counts.counted_on == nullptr) {
      whole.push_back(e);
      continue;
    }
    counted_before.push_back(e);
    Stamp& first = counted_on.try_emplace(counts.counted_on.get(), counts.made_at).first->second;
    first = std::min(first, counts.made_at);
  }
  if (!counted_before.empty()) FindChanges(counted_on);
  std::vector<std::int32_t>& stale = changed_domains_.empty() ? whole : changed_.entries;
  stale.insert(stale.end(), counted_before.begin(), counted_before.end());
  const bool by_classes = state_->classes() != nullptr && !whole.empty() && ListSinceClasses();
  for (const std::int32_t e : whole) {
    (by_classes && FitsClasses(*At(e).job) ? classed_ : whole_).entries.push_back(e);
  }
  Sort(classed_);
  Sort(whole_);
  Sort(changed_);
  return LayOutClassBatches(tables);
}

// Lists the groups whose leaves may be of other classes by now. Returns false where these are too
// many.
bool WaveCounts::ListSinceClasses() {
  state_->stamps().ForEachSince(state_->classes_stamp(), [&](std::size_t group) {
    since_classes_.push_back(static_cast<std::int32_t>(group));
  });
  return since_classes_.size() * kWorthListing <=
         static_cast<std::size_t>(state_->snapshot().group_count());
}

// Batches consist of neighbours whose counts have the same arrays.
DeviceResult<void> WaveCounts::LayOutClassBatches(DeviceMemory& tables) {
  if (classed_.entries.empty()) return {};
  const DeviceResult<ClassArrays> classes = mirror_->Classes(*state_);
  if (!classes) return tl::unexpected(classes.error());
  classes_ = *classes;
  const CountsView* arrays = nullptr;  // of the batch's first entry
  for (const std::int32_t e : classed_.entries) {
    const CountsView& view = At(e).counts->view;
    if (arrays == nullptr || class_batches_.back().shape_count == kShapesPerBlock ||
        ArraysOf(view) != ArraysOf(*arrays)) {
      class_batches_.emplace_back();
      arrays = &view;
    }
    ++class_batches_.back().shape_count;
  }
  return Arrange(tables, [&](Packer& packer) {
    auto entry = classed_.entries.begin();
    for (ClassBatch& batch : class_batches_) {
      const auto [slices, leader] = ArraysOf(At(*entry).counts->view);
      batch.table = LayOutCounts(std::size_t{LeafClasses::kMostClasses} * kShapesPerBlock, slices,
                                 leader, packer);
      entry += batch.shape_count;
    }
  });
}

// Puts the entries in the order of their parts.
void WaveCounts::Sort(Stale& stale) const {
  // Entries of a batch must share their capacity; the more columns they share, the fewer it has.
  const auto order = [this](std::int32_t e) {
    const Entry& entry = At(e);
    return std::tuple(entry.counts->leaves_stored, FitsShapeBatch(*entry.job),
                      ArraysOf(entry.counts->view), entry.capacity.amounts,
                      entry.job->shape->workers.columns);
  };
  std::ranges::stable_sort(stale.entries, {}, order);
  const auto begins_at = [&](bool leaves, bool batched) {
    const auto first = std::ranges::find_if(stale.entries, [&](std::int32_t e) {
      return std::tuple(At(e).counts->leaves_stored, FitsShapeBatch(*At(e).job)) >=
             std::tuple(leaves, batched);
    });
    return static_cast<std::size_t>(first - stale.entries.begin());
  };
  stale.sums = {0, begins_at(false, true), begins_at(true, false)};
  stale.leaves = {stale.sums.end, begins_at(true, true), stale.entries.size()};
}

// Lists groups of leaves that differ from what was counted, their leaves and their ancestors; lists
// nothing when these are too many to be worth a list.
void WaveCounts::FindChanges(const CountedOn& counted_on) {
  const FlavorSnapshot& snapshot = state_->snapshot();
  const TreeView tree = snapshot.tree();
  std::vector<std::int32_t>& leaf_groups = changed_groups_;
  for (const auto& [stamps, made_at] : counted_on) {
    state_->stamps().ForEachDifference(*stamps, made_at, [&](std::size_t leaf_group) {
      leaf_groups.push_back(static_cast<std::int32_t>(leaf_group));
    });
  }
  if (counted_on.size() > 1) {
    std::ranges::sort(leaf_groups);
    leaf_groups.erase(std::unique(leaf_groups.begin(), leaf_groups.end()), leaf_groups.end());
  }
  if (leaf_groups.size() * kWorthListing > static_cast<std::size_t>(snapshot.group_count())) {
    leaf_groups.clear();
    return;
  }
  for (const std::int32_t leaf_group : leaf_groups) {
    const DomainRange leaves = snapshot.GroupLeaves(leaf_group);
    for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      changed_leaves_.push_back(leaf);
    }
  }
  // Groups are the domains above the leaves.
  changed_domains_.resize(static_cast<std::size_t>(tree.level_count));
  for (std::int32_t level = tree.lowest() - 1; level >= 0; --level) {
    const bool above_leaves = level == tree.lowest() - 1;
    std::vector<std::int32_t>& domains = changed_domains_[static_cast<std::size_t>(level)];
    for (const std::int32_t below :
         above_leaves ? leaf_groups : changed_domains_[static_cast<std::size_t>(level + 1)]) {
      domains.push_back(above_leaves ? tree.LevelBegin(level) + below : tree.parent[below]);
    }
    std::ranges::sort(domains);
    domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  }
}

void WaveCounts::Pack(Packer& packer) {
  PackDescriptions(packer);
  PackStale(classed_, packer);
  PackStale(whole_, packer);
  PackStale(changed_, packer);
  PackClassed(packer);
  changes_.groups = PackItems(changed_groups_, packer);
  if (changed_.leaves.begin < changed_.leaves.end) {
    changes_.leaves = PackItems(changed_leaves_, packer);
  }
  changes_.domains.clear();
  for (const auto& domains : changed_domains_) {
    changes_.domains.push_back(PackItems(domains, packer));
  }
}

void WaveCounts::PackDescriptions(Packer& packer) {
  std::vector<MovingShape> moving;
  for (const Entry& entry : entries_) {
    if (entry.counts->IsDescribed(*entry.job, *mirror_)) continue;
    moving.push_back(
        entry.counts->PackDescription(*entry.job, entry.capacity, entry.filter, packer));
  }
  packed_moving_ = packer.Add(moving);
  moving_count_ = static_cast<std::int32_t>(moving.size());
}

void WaveCounts::PackClassed(Packer& packer) {
  std::vector<ClassBatch> batches = class_batches_;
  const ResidentShape* const* shapes = classed_.shapes;
  for (ClassBatch& batch : batches) {
    batch.shapes = shapes;
    if (shapes != nullptr) shapes += batch.shape_count;
  }
  packed_class_batches_ = packer.Add(batches);
  packed_since_classes_ = PackItems(since_classes_, packer);
}

void WaveCounts::PackStale(Stale& stale, Packer& packer) const {
  std::vector<const ResidentShape*> shapes;
  for (const std::int32_t e : stale.entries) shapes.push_back(At(e).counts->resident);
  stale.shapes = packer.Add(shapes);
  PackBatches(stale, stale.sums, packer);
  PackBatches(stale, stale.leaves, packer);
}

void WaveCounts::PackBatches(const Stale& stale, Part& part, Packer& packer) const {
  std::vector<ShapeBatch> batches;
  std::vector<const PlacementJob*> batched;
  for (std::size_t i = part.first_batched; i < part.end; ++i) {
    const Entry& entry = At(stale.entries[i]);
    batched.push_back(entry.job);
    const bool last = i + 1 == part.end || batched.size() == kShapesPerBlock ||
                      At(stale.entries[i + 1]).capacity.amounts != entry.capacity.amounts;
    if (!last) continue;
    const ResidentShape* const* first =
        stale.shapes == nullptr ? nullptr : stale.shapes + i + 1 - batched.size();
    batches.push_back(PackShapeBatch(batched, first, entry.capacity, packer));
    batched.clear();
  }
  part.batches = packer.Add(batches);
  part.batch_count = static_cast<std::int32_t>(batches.size());
}

WaveCounts::Where WaveCounts::Everywhere() const {
  const TreeView tree = state_->snapshot().tree();
  Where where;
  where.groups = {state_->snapshot().group_count()};
  where.leaves = {tree.leaf_count()};
  for (std::int32_t level = 0; level < tree.lowest(); ++level) {
    where.domains.push_back(
        {tree.LevelEnd(level) - tree.LevelBegin(level), tree.LevelBegin(level)});
  }
  return where;
}

void WaveCounts::AddCalls(std::vector<KernelCall>& calls) const {
  if (moving_count_ > 0) calls.emplace_back(MoveShapesArgs{packed_moving_, moving_count_});
  if (!classed_.entries.empty()) AddClassCalls(calls);
  AddCalls(whole_, Everywhere(), calls);
  AddCalls(changed_, changes_, calls);
}

void WaveCounts::AddClassCalls(std::vector<KernelCall>& calls) const {
  const auto batch_count = static_cast<std::int32_t>(class_batches_.size());
  calls.emplace_back(CountClassesArgs{mirror_->tree(), classes_.amounts, classes_.count,
                                      packed_class_batches_, batch_count});
  calls.emplace_back(SumClassesArgs{mirror_->tree(), state_->snapshot().group_count(),
                                    classes_.of_leaf, packed_class_batches_, batch_count});
  Where where = Everywhere();
  where.groups = packed_since_classes_;
  AddCalls(classed_, where, calls);
}

void WaveCounts::AddCalls(const Stale& stale, const Where& where,
                          std::vector<KernelCall>& calls) const {
  const auto shapes = [&](std::size_t begin, std::size_t end) {
    return std::pair(stale.shapes + begin, static_cast<std::int32_t>(end - begin));
  };
  if (stale.entries.empty()) return;
  const TreeView& tree = mirror_->tree();
  const bool groups = where.groups.size > 0;
  if (groups && stale.sums.begin < stale.sums.first_batched) {
    const auto [first, count] = shapes(stale.sums.begin, stale.sums.first_batched);
    calls.emplace_back(CountGroupsArgs{tree, where.groups, first, count});
  }
  if (groups && stale.sums.batch_count > 0) {
    calls.emplace_back(
        CountGroupBatchesArgs{tree, where.groups, stale.sums.batches, stale.sums.batch_count});
  }
  if (stale.leaves.begin < stale.leaves.first_batched) {
    const auto [first, count] = shapes(stale.leaves.begin, stale.leaves.first_batched);
    calls.emplace_back(CountLeavesArgs{tree, where.leaves, first, count});
  }
  if (stale.leaves.batch_count > 0) {
    calls.emplace_back(
        CountShapeBatchesArgs{tree, where.leaves, stale.leaves.batches, stale.leaves.batch_count});
  }
  const std::int32_t lowest = state_->snapshot().tree().lowest();
  for (std::int32_t level = lowest - 1; level >= 0; --level) {
    // Groups have got the sums of their leaves where these are not kept.
    const auto [first, count] =
        shapes(level == lowest - 1 ? stale.leaves.begin : 0, stale.entries.size());
    if (count == 0) continue;
    calls.emplace_back(
        RollUpArgs{tree, level, where.domains[static_cast<std::size_t>(level)], first, count});
  }
  const bool indexed = std::ranges::any_of(
      stale.entries, [&](std::int32_t e) { return At(e).counts->view.index != nullptr; });
  if (indexed && lowest > 0) {
    const auto [first, count] = shapes(0, stale.entries.size());
    calls.emplace_back(IndexArgs{tree, first, count});
  }
}

void WaveCounts::NoteCounted() {
  for (const Entry& entry : entries_) {
    entry.counts->counted_on = SharedStampsOf(*entry.job);
    entry.counts->made_at = entry.counts->counted_on->latest();
    entry.counts->described_on = mirror_->addresses();
    entry.counts->filter = entry.job->filter;
  }
}

}  // namespace espalier
