#include "fallback_cpu/shape_counts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/decisions/roll_up.hpp"

namespace espalier {
namespace {

// Slices and pods are the same number everywhere when a slice is one pod on one leaf.
bool HasSlices(const SliceRule& slice, const TreeView& tree) {
  return slice.size != 1 || slice.level != tree.lowest() || slice.layer_count > 1;
}

// Entries of the state's log that a job has to look at.
std::size_t LogSize(const PlacementJob& job) {
  return job.simulate_empty ? 0 : job.state->changed_blocks().size();
}

// Blocks that changed since the log had `position` entries, each once; those without pods are left
// out where `pods`, by block, is given.
void AppendChanged(const FlavorState& state, std::size_t position, const StoredCount* pods,
                   std::vector<std::int32_t>& blocks) {
  thread_local std::vector<std::int32_t> changed;
  const std::span<const std::int32_t> log = state.changed_blocks();
  const std::span<const std::int32_t> last_changes = state.last_changes();
  if (log.size() - position < last_changes.size() / 16) {
    for (std::size_t i = position; i < log.size(); ++i) {
      if (state.IsLastChange(i) && (pods == nullptr || pods[log[i]] > 0)) blocks.push_back(log[i]);
    }
    return;
  }
  if (changed.size() < last_changes.size() + BulkCounts::kReadAhead) {
    changed.resize(last_changes.size() + BulkCounts::kReadAhead);
  }
  const std::int32_t count = ActiveBulkCounts().changed(
      last_changes.data(), pods, static_cast<std::int32_t>(last_changes.size()),
      static_cast<std::int32_t>(position), changed.data());
  blocks.insert(blocks.end(), changed.begin(), changed.begin() + count);
}

void SetAssumedBlocks(const PlacementJob& job, std::vector<std::int32_t>& blocks) {
  blocks.clear();
  for (const AssumedLeaf& assumed : job.assumed) {
    blocks.push_back(job.state->snapshot().BlockOf(assumed.leaf));
  }
}

void KeepEachOnce(std::vector<std::int32_t>& blocks) {
  thread_local std::vector<char> seen;
  std::erase_if(blocks, [](std::int32_t block) {
    const auto at = static_cast<std::size_t>(block);
    if (at >= seen.size()) seen.resize(2 * at + 1);
    return std::exchange(seen[at], 1) != 0;
  });
  for (const std::int32_t block : blocks) seen[static_cast<std::size_t>(block)] = 0;
}

}  // namespace

void ShapeCounts::Forget() {
  counter_.reset();
  counted_ = false;
  leaves_kept_ = false;
  assumed_blocks_.clear();
  limited_known_ = false;
  limited_stale_.clear();
}

void ShapeCounts::GoOnFrom(const ChangeLog& before, std::size_t shared) {
  counter_.reset();
  const auto go_back = [&](std::size_t& position, std::vector<std::int32_t>& stale) {
    for (std::size_t i = shared; i < position; ++i) stale.push_back(before.blocks[i]);
    position = std::min(position, shared);
    KeepEachOnce(stale);
  };
  if (counted_) go_back(log_position_, assumed_blocks_);
  if (limited_known_) go_back(limited_position_, limited_stale_);
}

bool ShapeCounts::NeedsLeaves(const PlacementJob& job) {
  return job.query.balanced || job.query.level == job.state->snapshot().tree().lowest();
}

CountsView ShapeCounts::LeavesIn(CountsStorage& leaves) {
  if (leaves_kept_) return storage_.View();
  leaves.Resize(snapshot_->domain_count(), storage_.with_slices(), storage_.with_leader());
  return leaves.View();
}

bool ShapeCounts::Prepare(const PlacementJob& job, CountsStorage& leaves) {
  snapshot_ = &job.state->snapshot();
  shape_ = job.shape.get();
  if (!counter_ || !counter_->IsValid()) counter_.emplace(job);
  counter_->Assume(job.assumed);
  const bool keep_leaves = leaves_kept_ || NeedsLeaves(job);
  const bool all = !counted_ || keep_leaves != leaves_kept_;
  if (all) {
    const TreeView tree = snapshot_->tree();
    leaves_kept_ = keep_leaves;
    storage_.Resize(leaves_kept_ ? tree.domain_count() : tree.LevelBegin(tree.lowest()),
                    HasSlices(shape_->slice, tree), job.query.leaders > 0);
  } else {
    stale_.swap(assumed_blocks_);
    const bool several_lists = !stale_.empty();
    if (!job.simulate_empty) AppendStale(job);
    for (const AssumedLeaf& assumed : job.assumed) {
      stale_.push_back(snapshot_->BlockOf(assumed.leaf));
    }
    if (several_lists) KeepEachOnce(stale_);
    RefreshBlocks(job, leaves);
  }
  counted_ = true;
  log_position_ = LogSize(job);
  SetAssumedBlocks(job, assumed_blocks_);
  return all;
}

// Blocks that changed since the last refresh. A block without pods stays without while usage only
// grows.
void ShapeCounts::AppendStale(const PlacementJob& job) {
  const FlavorState& state = *job.state;
  const TreeView tree = snapshot_->tree();
  const bool skip_empty = counter_->sums() && !leaves_kept_ && state.OnlyShrankSince(log_position_);
  AppendChanged(state, log_position_,
                skip_empty ? storage_.View().pods + tree.LevelBegin(tree.lowest() - 1) : nullptr,
                stale_);
}

void ShapeCounts::Refresh(const PlacementJob& job, CountsStorage& leaves) {
  if (counted_ && counter_ && log_position_ == LogSize(job) && job.assumed.empty() &&
      assumed_blocks_.empty() && (leaves_kept_ || !NeedsLeaves(job))) {
    return;
  }
  if (!Prepare(job, leaves)) return;
  CountBlocks(0, snapshot_->block_count(), leaves);
  Finish();
}

// Counts the leaves of a block, and the block itself where blocks are domains.
void ShapeCounts::CountOneBlock(std::int32_t block, const CountsView& leaves) {
  const TreeView tree = snapshot_->tree();
  counter_->Count(snapshot_->BlockLeaves(block), leaves);
  if (tree.level_count == 1) return;
  RollUpDomain(tree, shape_->slice, leaves, storage_.View(), tree.lowest() - 1,
               tree.LevelBegin(tree.lowest() - 1) + block);
}

void ShapeCounts::CountBlocks(std::int32_t begin, std::int32_t end, CountsStorage& leaves) {
  end = std::min(end, snapshot_->block_count());
  if (begin >= end) return;
  blocks_counted_ += end - begin;
  if (counter_->sums() && !leaves_kept_ && assumed_blocks_.empty()) {
    const TreeView tree = snapshot_->tree();
    stale_.resize(static_cast<std::size_t>(end - begin));
    std::iota(stale_.begin(), stale_.end(), begin);
    counter_->SumBlocks(stale_, storage_.View().pods + tree.LevelBegin(tree.lowest() - 1) + begin);
    stale_.clear();
    return;
  }
  const CountsView view = LeavesIn(leaves);
  for (std::int32_t block = begin; block < end; ++block) CountOneBlock(block, view);
}

void ShapeCounts::Finish() {
  const TreeView tree = snapshot_->tree();
  const CountsView counts = storage_.View();
  for (std::int32_t level = tree.lowest() - 2; level >= 0; --level) {
    for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
      RollUpDomain(tree, shape_->slice, counts, level, d);
    }
  }
}

// Counts the blocks in stale_ and rolls their ancestors up.
void ShapeCounts::RefreshBlocks(const PlacementJob& job, CountsStorage& leaves) {
  blocks_counted_ += static_cast<std::int64_t>(stale_.size());
  const TreeView tree = snapshot_->tree();
  const CountsView counts = storage_.View();
  if (counter_->sums() && !leaves_kept_ && job.assumed.empty()) {
    // Sums of pods alone: what a block gained or lost, its ancestors gain or lose.
    const std::int32_t first = tree.LevelBegin(tree.lowest() - 1);
    sums_.resize(stale_.size());
    counter_->SumBlocks(stale_, sums_.data());
    for (std::size_t i = 0; i < stale_.size(); ++i) {
      const StoredCount gained = sums_[i] - counts.pods[first + stale_[i]];
      if (gained == 0) continue;
      for (std::int32_t d = first + stale_[i]; d >= 0; d = tree.parent[d]) {
        counts.pods[d] += gained;
      }
    }
    stale_.clear();
    return;
  }
  const CountsView view = LeavesIn(leaves);
  for (const std::int32_t block : stale_) CountOneBlock(block, view);
  // Blocks are the domains above the leaves; go up from there, each ancestor once.
  seen_.resize(static_cast<std::size_t>(tree.LevelBegin(tree.lowest())), 0);
  ++refresh_;
  for (std::int32_t& block : stale_)
    block += tree.level_count > 1 ? tree.LevelBegin(tree.lowest() - 1) : 0;
  for (std::int32_t level = tree.lowest() - 2; level >= 0; --level) {
    std::size_t kept = 0;
    for (const std::int32_t below : stale_) {
      const std::int32_t domain = tree.parent[below];
      std::uint32_t& seen = seen_[static_cast<std::size_t>(domain)];
      if (seen == refresh_) continue;
      seen = refresh_;
      stale_[kept++] = domain;
      RollUpDomain(tree, shape_->slice, counts, level, domain);
    }
    stale_.resize(kept);
  }
  stale_.clear();
}

ShapeCounts::Source ShapeCounts::SourceFor(const PlacementJob& job, CountsStorage& leaves) {
  Source source;
  const TreeView tree = snapshot_->tree();
  source.stored_ = storage_.View();
  source.leaves_ = LeavesIn(leaves);
  source.counter_ = leaves_kept_ ? nullptr : &*counter_;
  source.lowest_ = tree.lowest();
  source.first_leaf_ = tree.LevelBegin(tree.lowest());
  const NodeFilter* filter = job.shape->filter.get();
  if (job.affinity_scores && filter != nullptr && !filter->affinity.empty()) {
    source.stored_.affinity = filter->affinity.data();
    source.leaves_.affinity = filter->affinity.data();
  }
  return source;
}

const CountsView& ShapeCounts::Source::Of(SerialTeam& /*team*/, std::int32_t level,
                                          DomainRange domains) const {
  if (level < lowest_ || counter_ == nullptr) return stored_;
  counter_->Count({domains.begin - first_leaf_, domains.end - first_leaf_}, leaves_);
  return leaves_;
}

// Counts the tiles of the blocks in limited_stale_ anew.
void ShapeCounts::LimitBlocks() {
  std::vector<std::int32_t>& tiles = limited_stale_;
  if (snapshot_->block_width() != TiledCapacity::kTileLeaves) {
    limited_tiles_.clear();
    for (const std::int32_t block : limited_stale_) {
      const DomainRange leaves = snapshot_->BlockLeaves(block);
      const std::int32_t end =
          (leaves.end + TiledCapacity::kTileLeaves - 1) / TiledCapacity::kTileLeaves;
      for (std::int32_t tile = leaves.begin / TiledCapacity::kTileLeaves; tile < end; ++tile) {
        // Neighbouring blocks may share one.
        if (limited_tiles_.empty() || limited_tiles_.back() != tile) limited_tiles_.push_back(tile);
      }
    }
    tiles.swap(limited_tiles_);
  }
  const auto words = static_cast<std::int32_t>(limited_.size() / 8);
  counter_->CountLimited(tiles, {limited_of_tile_.data(), words, limited_.data()});
}

void ShapeCounts::RefreshExclusions(const PlacementJob& job) {
  if (limited_known_ && limited_position_ == LogSize(job) && limited_stale_.empty() &&
      assumed_blocks_.empty()) {
    return;
  }
  if (!limited_known_) {
    const std::size_t resources = shape_->workers.names.size();
    const std::size_t words = resources / 8 + 1;  // one byte for those outside the domain
    const std::int32_t tiles = snapshot_->leaf_count() / TiledCapacity::kTileLeaves + 1;
    limited_.assign(words * 8, 0);
    limited_of_tile_.assign(static_cast<std::size_t>(tiles) * words, 0);
    limited_stale_.resize(static_cast<std::size_t>(snapshot_->block_count()));
    std::iota(limited_stale_.begin(), limited_stale_.end(), 0);
    limited_known_ = true;
  } else {
    limited_stale_.insert(limited_stale_.end(), assumed_blocks_.begin(), assumed_blocks_.end());
    if (!job.simulate_empty) AppendChanged(*job.state, limited_position_, nullptr, limited_stale_);
  }
  LimitBlocks();
  limited_position_ = LogSize(job);
  limited_stale_ = assumed_blocks_;
}

void ShapeCounts::CountExclusions(const PlacementJob& job, PlacementResult& result) {
  const std::lock_guard lock(limited_mutex_);
  RefreshExclusions(job);
  const auto resources = static_cast<std::ptrdiff_t>(shape_->workers.names.size());
  const auto outside = limited_.begin() + resources;
  result.limited_by.assign(limited_.begin(), outside);
  result.outside_domain = *outside;
}

}  // namespace espalier
