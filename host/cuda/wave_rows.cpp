#include "host/cuda/wave_rows.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "host/cuda/count_tiles.hpp"

namespace espalier {
namespace {

// Counting more than this part of the blocks one by one is slower than counting all leaves.
constexpr std::size_t kWorthListing = 4;

Items PackItems(const std::vector<std::int32_t>& items, Packer& packer) {
  return {static_cast<std::int32_t>(items.size()), 0, packer.Add(items)};
}

RequestView PackRequest(const RequestVector& request, Packer& packer) {
  return {static_cast<std::int32_t>(request.names.size()), packer.Add(request.columns),
          packer.Add(request.amounts)};
}

}  // namespace

DeviceResult<std::int32_t> WaveRows::Add(const PlacementJob& job,
                                         std::shared_ptr<CountsRow> counts) {
  if (const auto it = row_of_.find(counts.get()); it != row_of_.end()) return it->second;
  Row row;
  row.job = &job;
  row.capacity = mirror_->remaining();
  if (job.simulate_empty) {
    const DeviceResult<CapacityView> free = mirror_->Free(*state_);
    if (!free) return tl::unexpected(free.error());
    row.capacity = *free;
  }
  const DeviceResult<FilterArrays> filter = mirror_->Filter(job.shape->filter);
  if (!filter) return tl::unexpected(filter.error());
  row.filter = *filter;
  for (const AssumedLeaf& assumed : job.assumed) {
    row.assumed_leaves.push_back(assumed.leaf.value);
    row.assumed_amounts.insert(row.assumed_amounts.end(), assumed.amounts.begin(),
                               assumed.amounts.end());
  }
  row.exclusions_begin = exclusions_size_;
  exclusions_size_ += job.shape->workers.names.size() + 1;
  counts_bytes_ += counts->memory.size();
  const std::int32_t position = size();
  row_of_.emplace(counts.get(), position);
  row.counts = std::move(counts);
  rows_.push_back(std::move(row));
  return position;
}

Stamp WaveRows::Latest(const Row& row) const {
  return row.job->simulate_empty ? state_->free_stamps()->latest() : state_->stamps().latest();
}

void WaveRows::Prepare() {
  Stamp oldest = state_->stamps().latest();
  std::vector<std::int32_t> counted_before;
  for (std::int32_t r = 0; r < size(); ++r) {
    const CountsRow& counts = *At(r).counts;
    if (counts.counted && counts.made_at == Latest(At(r))) continue;
    if (counts.counted) {
      counted_before.push_back(r);
      oldest = std::min(oldest, counts.made_at);
    } else {
      whole_.rows.push_back(r);
    }
  }
  if (!counted_before.empty()) FindChanges(oldest);
  Group& group = changed_domains_.empty() ? whole_ : changed_;
  group.rows.insert(group.rows.end(), counted_before.begin(), counted_before.end());
  for (Group* sorted : {&whole_, &changed_}) {
    // Rows of a tile share their capacity, and better their columns.
    const auto order = [this](std::int32_t r) {
      const Row& row = At(r);
      return std::tuple(FitsTile(*row.job), row.capacity.amounts, row.job->shape->workers.columns);
    };
    std::ranges::stable_sort(sorted->rows, {}, order);
    const auto tiled =
        std::ranges::find_if(sorted->rows, [this](std::int32_t r) { return FitsTile(*At(r).job); });
    sorted->first_tiled = static_cast<std::size_t>(tiled - sorted->rows.begin());
  }
}

// The leaves of blocks that changed since then and their ancestors; nothing when these are too many
// to be worth a list.
void WaveRows::FindChanges(Stamp since) {
  const FlavorSnapshot& snapshot = state_->snapshot();
  const TreeView tree = snapshot.tree();
  const std::span stamps = state_->stamps().of_block();
  std::vector<std::int32_t> blocks;
  state_->stamps().ForRunsSince(since, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      if (stamps[block] > since) blocks.push_back(static_cast<std::int32_t>(block));
    }
  });
  if (blocks.size() * kWorthListing > static_cast<std::size_t>(snapshot.block_count())) return;
  for (const std::int32_t block : blocks) {
    const DomainRange leaves = snapshot.BlockLeaves(block);
    for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      changed_leaves_.push_back(leaf);
    }
  }
  // Blocks are the domains above the leaves.
  changed_domains_.resize(static_cast<std::size_t>(tree.level_count));
  for (std::int32_t level = tree.lowest() - 1; level >= 0; --level) {
    const bool above_leaves = level == tree.lowest() - 1;
    std::vector<std::int32_t>& domains = changed_domains_[static_cast<std::size_t>(level)];
    for (const std::int32_t below :
         above_leaves ? blocks : changed_domains_[static_cast<std::size_t>(level + 1)]) {
      domains.push_back(above_leaves ? tree.LevelBegin(level) + below : tree.parent[below]);
    }
    std::ranges::sort(domains);
    domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  }
}

const CountRow* WaveRows::Pack(std::int64_t* exclusions, Packer& packer) {
  std::vector<CountRow> packed;
  for (const Row& row : rows_) packed.push_back(PackRow(row, exclusions, packer));
  PackGroup(packed, whole_, packer);
  PackGroup(packed, changed_, packer);
  packed_leaves_ = PackItems(changed_leaves_, packer);
  packed_domains_.clear();
  for (const auto& domains : changed_domains_) {
    packed_domains_.push_back(PackItems(domains, packer));
  }
  return packer.Add(packed);
}

// Sends the small arrays of a row and tells where they lie.
CountRow WaveRows::PackRow(const Row& row, std::int64_t* exclusions, Packer& packer) const {
  const Shape& shape = *row.job->shape;
  CountRow packed;
  packed.input.capacity = row.capacity;
  packed.input.assumed = {static_cast<std::int32_t>(row.assumed_leaves.size()),
                          packer.Add(row.assumed_leaves), packer.Add(row.assumed_amounts),
                          static_cast<std::int32_t>(state_->snapshot().resources().size())};
  packed.input.workers = PackRequest(shape.workers, packer);
  packed.input.leader = PackRequest(shape.leader, packer);
  packed.input.leader_on_workers = packer.Add(shape.leader_on_workers);
  packed.input.matches = row.filter.matches;
  packed.input.domain = row.job->replacement_domain;
  packed.slice = shape.slice;
  packed.counts = row.counts->counts;
  const std::size_t resources = shape.workers.names.size();
  packed.exclusions.limited_by = exclusions + row.exclusions_begin;
  packed.exclusions.outside_domain = packed.exclusions.limited_by + resources;
  packed.exclusions.resources = static_cast<std::int32_t>(resources);
  return packed;
}

void WaveRows::PackGroup(const std::vector<CountRow>& packed, Group& group, Packer& packer) const {
  std::vector<CountRow> rows;
  for (const std::int32_t r : group.rows) rows.push_back(packed[static_cast<std::size_t>(r)]);
  group.packed = packer.Add(rows);
  std::vector<CountTile> tiles;
  std::vector<const PlacementJob*> jobs;
  for (std::size_t i = group.first_tiled; i < group.rows.size(); ++i) {
    const Row& row = At(group.rows[i]);
    jobs.push_back(&*row.job);
    const bool last = i + 1 == group.rows.size() || jobs.size() == kRowsPerBlock ||
                      At(group.rows[i + 1]).capacity.amounts != row.capacity.amounts;
    if (!last) continue;
    const CountRow* first = group.packed == nullptr ? nullptr : group.packed + i + 1 - jobs.size();
    tiles.push_back(PackTile(jobs, first, row.capacity, packer));
    jobs.clear();
  }
  group.tiles = packer.Add(tiles);
  group.tile_count = static_cast<std::int32_t>(tiles.size());
}

void WaveRows::AddCalls(std::vector<KernelCall>& calls) const {
  AddCalls(whole_, true, calls);
  AddCalls(changed_, false, calls);
}

void WaveRows::AddCalls(const Group& group, bool everywhere, std::vector<KernelCall>& calls) const {
  if (group.rows.empty()) return;
  const TreeView host = state_->snapshot().tree();
  const TreeView& tree = mirror_->tree();
  const Items leaves = everywhere ? Items{host.leaf_count()} : packed_leaves_;
  if (group.first_tiled > 0) {
    calls.emplace_back(
        CountLeavesArgs{tree, leaves, group.packed, static_cast<std::int32_t>(group.first_tiled)});
  }
  if (group.tile_count > 0) {
    calls.emplace_back(CountTilesArgs{tree, leaves, group.tiles, group.tile_count});
  }
  for (std::int32_t level = host.lowest() - 1; level >= 0; --level) {
    const Items all{host.LevelEnd(level) - host.LevelBegin(level), host.LevelBegin(level)};
    calls.emplace_back(
        RollUpArgs{tree, level, everywhere ? all : packed_domains_[static_cast<std::size_t>(level)],
                   group.packed, static_cast<std::int32_t>(group.rows.size())});
  }
}

void WaveRows::NoteCounted() {
  for (const Row& row : rows_) {
    row.counts->counted = true;
    row.counts->made_at = Latest(row);
  }
}

}  // namespace espalier
