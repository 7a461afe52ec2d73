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

}  // namespace

DeviceResult<std::int32_t> WaveCounts::Add(const PlacementJob& job,
                                           std::shared_ptr<DeviceCounts> counts) {
  if (const auto it = entry_of_.find(counts.get()); it != entry_of_.end()) return it->second;
  Entry entry;
  entry.job = &job;
  entry.capacity = mirror_->remaining();
  if (job.simulate_empty) {
    const DeviceResult<CapacityView> free = mirror_->Free(*state_);
    if (!free) return tl::unexpected(free.error());
    entry.capacity = *free;
  }
  const DeviceResult<FilterArrays> filter = mirror_->Filter(job.filter);
  if (!filter) return tl::unexpected(filter.error());
  entry.filter = *filter;
  entry.assumed.Set(job.assumed);
  counts_bytes_ += counts->memory.size();
  const std::int32_t position = size();
  entry_of_.emplace(counts.get(), position);
  entry.counts = std::move(counts);
  entries_.push_back(std::move(entry));
  return position;
}

void WaveCounts::Prepare() {
  std::vector<std::int32_t> counted_before;
  CountedOn counted_on;
  for (std::int32_t e = 0; e < size(); ++e) {
    const DeviceCounts& counts = *At(e).counts;
    if (counts.IsCurrent(*At(e).job)) continue;
    if (counts.counted_on == nullptr) {
      whole_.entries.push_back(e);
      continue;
    }
    counted_before.push_back(e);
    Stamp& first = counted_on.try_emplace(counts.counted_on.get(), counts.made_at).first->second;
    first = std::min(first, counts.made_at);
  }
  if (!counted_before.empty()) FindChanges(counted_on);
  Group& group = changed_domains_.empty() ? whole_ : changed_;
  group.entries.insert(group.entries.end(), counted_before.begin(), counted_before.end());
  for (Group* sorted : {&whole_, &changed_}) {
    // Entries of a batch must share their capacity; the more columns they share, the fewer it has.
    const auto order = [this](std::int32_t e) {
      const Entry& entry = At(e);
      return std::tuple(FitsShapeBatch(*entry.job), entry.capacity.amounts,
                        entry.job->shape->workers.columns);
    };
    std::ranges::stable_sort(sorted->entries, {}, order);
    const auto batched = std::ranges::find_if(
        sorted->entries, [this](std::int32_t e) { return FitsShapeBatch(*At(e).job); });
    sorted->first_batched = static_cast<std::size_t>(batched - sorted->entries.begin());
  }
}

// Lists the leaves of groups of leaves that differ from what was counted, and their ancestors;
// lists nothing when these are too many to be worth a list.
void WaveCounts::FindChanges(const CountedOn& counted_on) {
  const FlavorSnapshot& snapshot = state_->snapshot();
  const TreeView tree = snapshot.tree();
  std::vector<std::int32_t> leaf_groups;
  for (const auto& [stamps, made_at] : counted_on) {
    state_->stamps().ForEachDifference(*stamps, made_at, [&](std::size_t leaf_group) {
      leaf_groups.push_back(static_cast<std::int32_t>(leaf_group));
    });
  }
  if (counted_on.size() > 1) {
    std::ranges::sort(leaf_groups);
    leaf_groups.erase(std::unique(leaf_groups.begin(), leaf_groups.end()), leaf_groups.end());
  }
  if (leaf_groups.size() * kWorthListing > static_cast<std::size_t>(snapshot.group_count())) return;
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

CountsView WaveCounts::ViewOf(std::int32_t entry) const {
  CountsView view = At(entry).counts->view;
  view.affinity = At(entry).filter.affinity;
  return view;
}

void WaveCounts::Pack(Packer& packer) {
  PackGroup(whole_, packer);
  PackGroup(changed_, packer);
  packed_leaves_ = PackItems(changed_leaves_, packer);
  packed_domains_.clear();
  for (const auto& domains : changed_domains_) {
    packed_domains_.push_back(PackItems(domains, packer));
  }
}

// Packs the small arrays of an entry and returns its job, which has their addresses.
CountJob WaveCounts::PackJob(const Entry& entry, Packer& packer) const {
  CountJob job;
  job.input = MakeLeafInput(*entry.job, entry.assumed,
                            [&](const auto& items) { return packer.Add(items); });
  job.input.capacity = entry.capacity;
  job.input.matches = entry.filter.matches;
  job.slice = entry.job->shape->slice;
  job.counts = entry.counts->view;
  return job;
}

void WaveCounts::PackGroup(Group& group, Packer& packer) const {
  std::vector<CountJob> stale;
  for (const std::int32_t e : group.entries) stale.push_back(PackJob(At(e), packer));
  group.jobs = packer.Add(stale);
  std::vector<ShapeBatch> batches;
  std::vector<const PlacementJob*> batched;
  for (std::size_t i = group.first_batched; i < group.entries.size(); ++i) {
    const Entry& entry = At(group.entries[i]);
    batched.push_back(entry.job);
    const bool last = i + 1 == group.entries.size() || batched.size() == kShapesPerBlock ||
                      At(group.entries[i + 1]).capacity.amounts != entry.capacity.amounts;
    if (!last) continue;
    const CountJob* first = group.jobs == nullptr ? nullptr : group.jobs + i + 1 - batched.size();
    batches.push_back(PackShapeBatch(batched, first, entry.capacity, packer));
    batched.clear();
  }
  group.batches = packer.Add(batches);
  group.batch_count = static_cast<std::int32_t>(batches.size());
}

void WaveCounts::AddCalls(std::vector<KernelCall>& calls) const {
  AddCalls(whole_, true, calls);
  AddCalls(changed_, false, calls);
}

void WaveCounts::AddCalls(const Group& group, bool everywhere,
                          std::vector<KernelCall>& calls) const {
  if (group.entries.empty()) return;
  const TreeView host = state_->snapshot().tree();
  const TreeView& tree = mirror_->tree();
  const Items leaves = everywhere ? Items{host.leaf_count()} : packed_leaves_;
  if (group.first_batched > 0) {
    calls.emplace_back(
        CountLeavesArgs{tree, leaves, group.jobs, static_cast<std::int32_t>(group.first_batched)});
  }
  if (group.batch_count > 0) {
    calls.emplace_back(CountShapeBatchesArgs{tree, leaves, group.batches, group.batch_count});
  }
  for (std::int32_t level = host.lowest() - 1; level >= 0; --level) {
    const Items all{host.LevelEnd(level) - host.LevelBegin(level), host.LevelBegin(level)};
    calls.emplace_back(
        RollUpArgs{tree, level, everywhere ? all : packed_domains_[static_cast<std::size_t>(level)],
                   group.jobs, static_cast<std::int32_t>(group.entries.size())});
  }
  if (host.lowest() > 0) {
    calls.emplace_back(
        IndexArgs{tree, group.jobs, static_cast<std::int32_t>(group.entries.size())});
  }
}

void WaveCounts::NoteCounted() {
  for (const Entry& entry : entries_) {
    entry.counts->counted_on = SharedStampsOf(*entry.job);
    entry.counts->made_at = entry.counts->counted_on->latest();
  }
}

}  // namespace espalier
