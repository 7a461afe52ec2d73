#include "fallback_cpu/shape_counts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kernels/decisions/roll_up.hpp"

namespace espalier {
namespace {

// Slices and pods are the same number everywhere when a slice is one pod on one leaf.
bool HasSlices(const SliceRule& slice, const TreeView& tree) {
  return slice.size != 1 || slice.level != tree.lowest() || slice.layer_count > 1;
}

// The stamps of the capacity that a job looks at.
const BlockStamps& StampsOf(const PlacementJob& job) {
  return job.simulate_empty ? *job.state->free_stamps() : job.state->stamps();
}

// Blocks that changed since, in ascending order; those without pods are left out where `pods`, by
// block, is given.
void AppendChanged(const BlockStamps& stamps, Stamp since, const StoredCount* pods,
                   std::vector<std::int32_t>& blocks) {
  thread_local std::vector<std::int32_t> changed;
  stamps.ForRunsSince(since, [&](std::size_t begin, std::size_t end) {
    changed.resize(std::max(changed.size(), end - begin + BulkCounts::kReadAhead));
    const std::int32_t count =
        ActiveBulkCounts().changed(stamps.of_block().data(), pods, static_cast<std::int32_t>(begin),
                                   static_cast<std::int32_t>(end), since, changed.data());
    blocks.insert(blocks.end(), changed.begin(), changed.begin() + count);
  });
}

void SortDistinct(std::vector<std::int32_t>& blocks) {
  if (std::ranges::adjacent_find(blocks, std::ranges::greater_equal()) == blocks.end()) return;
  std::ranges::sort(blocks);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
}

// Those of some blocks, or of all, that are before `end` and not `done`, which they are from now
// on. The blocks ascend unless all are taken at once.
Blocks TakeBefore(std::int32_t end, const FlavorSnapshot& snapshot, bool all,
                  const std::vector<std::int32_t>& some, std::int32_t& done) {
  const std::int32_t first = done;
  if (all) {
    done = std::min(end, snapshot.block_count());
    return {nullptr, first, done - first};
  }
  const auto last = end >= snapshot.block_count()
                        ? some.end()
                        : std::lower_bound(some.begin() + first, some.end(), end);
  done = static_cast<std::int32_t>(last - some.begin());
  return {some.data() + first, 0, done - first};
}

void SetAssumedBlocks(const PlacementJob& job, std::vector<std::int32_t>& blocks) {
  blocks.clear();
  for (const AssumedLeaf& assumed : job.assumed) {
    const std::int32_t block = job.state->snapshot().BlockOf(assumed.leaf);
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  }
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

void ShapeCounts::GoOnFrom(const BlockStamps& before, const BlockStamps& now) {
  counter_.reset();
  const auto go_on = [&](Stamp& made_at, std::vector<std::int32_t>& stale) {
    now.ForEachDifference(before, made_at, [&](std::size_t block) {
      stale.push_back(static_cast<std::int32_t>(block));
    });
    made_at = now.latest();
    SortDistinct(stale);
  };
  if (counted_) go_on(made_at_, assumed_blocks_);
  if (limited_known_) go_on(limits_made_at_, limited_stale_);
}

bool ShapeCounts::NeedsLeaves(const PlacementJob& job) {
  return job.query.balanced || job.query.level == job.state->snapshot().tree().lowest();
}

CountsView ShapeCounts::LeavesIn(CountsStorage& leaves) {
  if (leaves_kept_) return storage_.View();
  leaves.Resize(snapshot_->domain_count(), storage_.with_slices(), storage_.with_leader());
  return leaves.View();
}

// Whether counting a block is summing its pods.
bool ShapeCounts::SumsOnly() const {
  return counter_->sums() && !leaves_kept_ && assumed_blocks_.empty();
}

std::size_t ShapeCounts::Prepare(const PlacementJob& job) {
  CollectStale(job);
  if (cold_) return static_cast<std::size_t>(snapshot_->block_count());
  SortDistinct(stale_);
  return stale_.size();
}

void ShapeCounts::CollectStale(const PlacementJob& job) {
  snapshot_ = &job.state->snapshot();
  shape_ = job.shape.get();
  if (!counter_ || !counter_->IsValid()) counter_.emplace(job);
  counter_->Assume(job.assumed);
  const bool keep_leaves = leaves_kept_ || NeedsLeaves(job);
  cold_ = !counted_ || keep_leaves != leaves_kept_;
  stale_.clear();
  stale_done_ = 0;
  if (cold_) {
    const TreeView tree = snapshot_->tree();
    leaves_kept_ = keep_leaves;
    leaf_summary_.Forget();
    storage_.Resize(leaves_kept_ ? tree.domain_count() : tree.LevelBegin(tree.lowest()),
                    HasSlices(shape_->slice, tree), job.query.leaders > 0);
    SetAssumedBlocks(job, assumed_blocks_);
    if (StartFromClasses(job)) {
      cold_ = false;
      AppendStale(job);
    }
  } else {
    stale_.swap(assumed_blocks_);
    const bool several_lists = !stale_.empty();
    AppendStale(job);
    SetAssumedBlocks(job, assumed_blocks_);
    stale_.insert(stale_.end(), assumed_blocks_.begin(), assumed_blocks_.end());
    if (several_lists) SortDistinct(stale_);
  }
  counted_ = true;
  made_at_ = StampsOf(job).latest();
}

// Counts a state that was: leaves of a class hold the same. What changed since is stale.
bool ShapeCounts::StartFromClasses(const PlacementJob& job) {
  const FlavorState& state = *job.state;
  const TreeView tree = snapshot_->tree();
  if (state.classes() == nullptr || !counter_->sums() || !SumsOnly() ||
      !counter_->SumClasses(*state.classes(),
                            storage_.View().pods + tree.LevelBegin(tree.lowest() - 1))) {
    return false;
  }
  RollUpAll();
  made_at_ = state.classes_stamp();
  return true;
}

// Blocks that changed since the last refresh. A block without pods stays without while usage only
// grows.
void ShapeCounts::AppendStale(const PlacementJob& job) {
  const FlavorState& state = *job.state;
  const TreeView tree = snapshot_->tree();
  const bool skip_empty = counter_->sums() && !leaves_kept_ && state.OnlyShrankSince(made_at_);
  AppendChanged(StampsOf(job), made_at_,
                skip_empty ? storage_.View().pods + tree.LevelBegin(tree.lowest() - 1) : nullptr,
                stale_);
}

void ShapeCounts::Refresh(const PlacementJob& job, CountsStorage& leaves) {
  if (counted_ && counter_ && made_at_ == StampsOf(job).latest() && job.assumed.empty() &&
      assumed_blocks_.empty() && (leaves_kept_ || !NeedsLeaves(job))) {
    return;
  }
  CollectStale(job);
  CountBlocks(snapshot_->block_count(), leaves);
  Finish();
}

// Counts the leaves of a block again, and the block itself where blocks are domains.
void ShapeCounts::CountOneBlock(std::int32_t block, const CountsView& leaves) {
  const DomainRange of_block = snapshot_->BlockLeaves(block);
  leaf_summary_.BeforeChange(of_block);
  counter_->Count(of_block, leaves);
  leaf_summary_.AfterChange(of_block);
  RollUpBlock(block, leaves);
}

void ShapeCounts::RollUpBlock(std::int32_t block, const CountsView& leaves) {
  const TreeView tree = snapshot_->tree();
  if (tree.level_count == 1) return;
  RollUpDomain(tree, shape_->slice, leaves, storage_.View(), tree.lowest() - 1,
               tree.LevelBegin(tree.lowest() - 1) + block);
}

// Sums of pods alone: what a block gained or lost, its ancestors gain or lose.
void ShapeCounts::SumBlocks(const Blocks& blocks) {
  const TreeView tree = snapshot_->tree();
  StoredCount* pods = storage_.View().pods;
  const std::int32_t first = tree.LevelBegin(tree.lowest() - 1);
  if (cold_) return counter_->SumBlocks(blocks, pods + first + blocks.first);
  sums_.resize(static_cast<std::size_t>(blocks.count));
  counter_->SumBlocks(blocks, sums_.data());
  for (std::int32_t i = 0; i < blocks.count; ++i) {
    const StoredCount gained = sums_[static_cast<std::size_t>(i)] - pods[first + blocks[i]];
    if (gained == 0) continue;
    for (std::int32_t d = first + blocks[i]; d >= 0; d = tree.parent[d]) pods[d] += gained;
  }
}

void ShapeCounts::CountBlocks(std::int32_t end, CountsStorage& leaves) {
  const Blocks blocks = TakeBefore(end, *snapshot_, cold_, stale_, stale_done_);
  if (blocks.count == 0) return;
  blocks_counted_ += blocks.count;
  if (SumsOnly()) return SumBlocks(blocks);
  const CountsView view = LeavesIn(leaves);
  if (!cold_) {
    for (std::int32_t i = 0; i < blocks.count; ++i) CountOneBlock(blocks[i], view);
    return;
  }
  const std::int32_t last = blocks[blocks.count - 1];
  counter_->Count({snapshot_->BlockLeaves(blocks[0]).begin, snapshot_->BlockLeaves(last).end},
                  view);
  for (std::int32_t i = 0; i < blocks.count; ++i) RollUpBlock(blocks[i], view);
}

// From the blocks up.
void ShapeCounts::RollUpAll() {
  const TreeView tree = snapshot_->tree();
  const CountsView counts = storage_.View();
  const bool sums = counter_->sums();  // none passes 31 bits
  for (std::int32_t level = tree.lowest() - 2; level >= 0; --level) {
    for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
      if (sums) {
        counts.pods[d] = std::accumulate(counts.pods + tree.ChildBegin(d),
                                         counts.pods + tree.ChildBegin(d + 1), StoredCount{0});
      } else {
        RollUpDomain(tree, shape_->slice, counts, level, d);
      }
    }
  }
}

void ShapeCounts::Finish() {
  const TreeView tree = snapshot_->tree();
  if (cold_) {
    RollUpAll();
    if (leaves_kept_ && !storage_.with_leader()) {
      const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
      leaf_summary_.Reset(storage_.View().slices + first_leaf, tree.leaf_count(), first_leaf);
    }
  } else if (!SumsOnly()) {
    RollUpAncestors();
  }
}

// Rolls up what is above the blocks in stale_, each domain once. Blocks are the domains above the
// leaves.
void ShapeCounts::RollUpAncestors() {
  const TreeView tree = snapshot_->tree();
  if (tree.level_count == 1) return;
  seen_.resize(static_cast<std::size_t>(tree.LevelBegin(tree.lowest())), 0);
  ++refresh_;
  for (std::int32_t& block : stale_) block += tree.LevelBegin(tree.lowest() - 1);
  for (std::int32_t level = tree.lowest() - 2; level >= 0; --level) {
    std::size_t kept = 0;
    for (const std::int32_t below : stale_) {
      const std::int32_t domain = tree.parent[below];
      std::uint32_t& seen = seen_[static_cast<std::size_t>(domain)];
      if (seen == refresh_) continue;
      seen = refresh_;
      stale_[kept++] = domain;
      RollUpDomain(tree, shape_->slice, storage_.View(), level, domain);
    }
    stale_.resize(kept);
  }
}

ShapeCounts::Source ShapeCounts::SourceFor(const PlacementJob& job, CountsStorage& leaves) {
  Source source;
  const TreeView tree = snapshot_->tree();
  source.stored_ = storage_.View();
  if (leaves_kept_) source.stored_.leaf_summary = &leaf_summary_;
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

Count ShapeCounts::MostSlices(std::int32_t level, bool required) {
  const TreeView tree = snapshot_->tree();
  if (!required) level = 0;
  // Counts of leaves may not be in place.
  if (level == tree.lowest()) return std::numeric_limits<Count>::max();
  const StoredCount* slices = storage_.View().slices_with_leader;
  const std::span of_level(slices + tree.LevelBegin(level), slices + tree.LevelEnd(level));
  if (!required) return std::accumulate(of_level.begin(), of_level.end(), Count{0});
  StoredCount most = 0;
  for (const StoredCount of_domain : of_level) most = std::max(most, of_domain);
  return most;
}

std::size_t ShapeCounts::PrepareExclusions(const PlacementJob& job) {
  CollectLimited(job);
  if (limited_cold_) return static_cast<std::size_t>(snapshot_->block_count());
  SortDistinct(limited_stale_);
  return limited_stale_.size();
}

// As StartFromClasses.
bool ShapeCounts::StartLimitsFromClasses(const PlacementJob& job) {
  limited_classes_ = nullptr;
  const std::shared_ptr<const LeafClasses>& classes = job.state->classes();
  if (classes == nullptr || !assumed_blocks_.empty() ||
      !counter_->LimitClasses(*classes, limit_of_class_, limited_)) {
    return false;
  }
  limited_classes_ = classes;
  of_classes_.assign(classes->of_leaf().size() / TiledCapacity::kTileLeaves, true);
  limits_made_at_ = job.state->classes_stamp();
  return true;
}

void ShapeCounts::CollectLimited(const PlacementJob& job) {
  limited_done_ = 0;
  last_limited_tile_ = -1;
  limited_cold_ = !limited_known_;
  if (limited_cold_) {
    const std::size_t resources = shape_->workers.names.size();
    limited_.assign(resources + 2, 0);
    limited_known_ = resources <= LeafLimits::kMostResources;
    if (limited_known_) {
      const std::int32_t tiles = snapshot_->leaf_count() / TiledCapacity::kTileLeaves + 1;
      limit_of_leaf_.resize(static_cast<std::size_t>(tiles) * TiledCapacity::kTileLeaves);
    }
    limited_stale_.clear();
    limited_cold_ = !limited_known_ || !StartLimitsFromClasses(job);
  }
  if (!limited_cold_ && (limits_made_at_ != StampsOf(job).latest() || !limited_stale_.empty() ||
                         !assumed_blocks_.empty())) {
    limited_stale_.insert(limited_stale_.end(), assumed_blocks_.begin(), assumed_blocks_.end());
    const bool several_lists = !limited_stale_.empty();
    AppendChanged(StampsOf(job), limits_made_at_, nullptr, limited_stale_);
    if (several_lists || snapshot_->block_width() != TiledCapacity::kTileLeaves) {
      SortDistinct(limited_stale_);
    }
  }
  limits_made_at_ = StampsOf(job).latest();
}

// The tiles of some blocks; neighbouring blocks may share one.
Blocks ShapeCounts::TilesOf(const Blocks& blocks) {
  if (snapshot_->block_width() == TiledCapacity::kTileLeaves) return blocks;
  limited_tiles_.clear();
  for (std::int32_t i = 0; i < blocks.count; ++i) {
    const DomainRange leaves = snapshot_->BlockLeaves(blocks[i]);
    const std::int32_t end =
        (leaves.end + TiledCapacity::kTileLeaves - 1) / TiledCapacity::kTileLeaves;
    for (std::int32_t tile = leaves.begin / TiledCapacity::kTileLeaves; tile < end; ++tile) {
      if (tile != last_limited_tile_) limited_tiles_.push_back(tile);
      last_limited_tile_ = tile;
    }
  }
  return {limited_tiles_.data(), 0, static_cast<std::int32_t>(limited_tiles_.size())};
}

// Writes to limit_of_leaf_ what some tiles stand for.
void ShapeCounts::SetLimitsOfClasses(const Blocks& tiles) {
  thread_local std::vector<std::int32_t> still_of_classes;
  still_of_classes.clear();
  for (std::int32_t i = 0; i < tiles.count; ++i) {
    const auto tile = static_cast<std::size_t>(tiles[i]);
    if (!of_classes_[tile]) continue;
    of_classes_[tile] = false;
    still_of_classes.push_back(tiles[i]);
  }
  const Blocks of_classes = {still_of_classes.data(), 0,
                             static_cast<std::int32_t>(still_of_classes.size())};
  ActiveBulkCounts().look_up(limit_of_class_, limited_classes_->of_leaf().data(), of_classes,
                             limit_of_leaf_.data());
}

void ShapeCounts::LimitBlocks(std::int32_t end) {
  const Blocks tiles =
      TilesOf(TakeBefore(end, *snapshot_, limited_cold_, limited_stale_, limited_done_));
  if (tiles.count == 0) return;
  if (!limited_cold_ && limited_classes_ != nullptr) SetLimitsOfClasses(tiles);
  counter_->CountLimited(
      tiles, {static_cast<std::int32_t>(limited_.size()) - 2,
              limited_known_ ? limit_of_leaf_.data() : nullptr, limited_cold_, limited_.data()});
}

void ShapeCounts::FinishExclusions() { limited_stale_ = assumed_blocks_; }

void ShapeCounts::CountExclusions(const PlacementJob& job, PlacementResult& result) {
  const std::lock_guard lock(limited_mutex_);
  CollectLimited(job);
  LimitBlocks(snapshot_->block_count());
  FinishExclusions();
  const auto resources = static_cast<std::ptrdiff_t>(shape_->workers.names.size());
  const auto outside = limited_.begin() + resources;
  result.limited_by.assign(limited_.begin(), outside);
  result.outside_domain = *outside;
}

}  // namespace espalier
