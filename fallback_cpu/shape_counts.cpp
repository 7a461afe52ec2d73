#include "fallback_cpu/shape_counts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/decisions/roll_up.hpp"

namespace espalier {
namespace {

// Where more than this part of the groups differ, counting all of them is sooner.
constexpr std::size_t kWorthRebasing = 4;

// Groups that changed since, in ascending order; those without pods are left out where `pods`,
// by group, is given.
void AppendChanged(const GroupStamps& stamps, Stamp since, const StoredCount* pods,
                   std::vector<std::int32_t>& groups) {
  thread_local std::vector<std::int32_t> changed;
  stamps.ForRunsSince(since, [&](std::size_t begin, std::size_t end) {
    changed.resize(std::max(changed.size(), end - begin + SimdImplementation::kReadAhead));
    const std::int32_t count = ActiveSimdImplementation().changed(
        stamps.of_group().data(), pods, static_cast<std::int32_t>(begin),
        static_cast<std::int32_t>(end), since, changed.data());
    groups.insert(groups.end(), changed.begin(), changed.begin() + count);
  });
}

void SortDistinct(std::vector<std::int32_t>& groups) {
  if (std::ranges::adjacent_find(groups, std::ranges::greater_equal()) == groups.end()) return;
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
}

// Returns those of some groups, or of all, that are before `end` and not `done`, and moves
// `done` behind them. The groups ascend unless all are taken at once.
LeafGroups TakeBefore(std::int32_t end, const FlavorSnapshot& snapshot, bool all,
                      const std::vector<std::int32_t>& some, std::int32_t& done) {
  const std::int32_t first = done;
  if (all) {
    done = std::min(end, snapshot.group_count());
    return {nullptr, first, done - first};
  }
  const auto last = end >= snapshot.group_count()
                        ? some.end()
                        : std::lower_bound(some.begin() + first, some.end(), end);
  done = static_cast<std::int32_t>(last - some.begin());
  return {some.data() + first, 0, done - first};
}

void SetAssumedGroups(const PlacementJob& job, std::vector<std::int32_t>& groups) {
  groups.clear();
  for (const AssumedLeaf& assumed : job.assumed) {
    const std::int32_t group = job.state->snapshot().GroupOf(assumed.leaf);
    if (groups.empty() || groups.back() != group) groups.push_back(group);
  }
}

}  // namespace

void ShapeCounts::Forget() {
  counter_.reset();
  counted_ = false;
  leaves_kept_ = false;
  assumed_groups_.clear();
  exclusions_known_ = false;
  exclusions_stale_.clear();
}

bool ShapeCounts::RebaseOnto(const GroupStamps& before, const GroupStamps& now) {
  const std::size_t groups = now.of_group().size();
  if (before.of_group().size() != groups) return false;  // leaves came or went in between
  Stamp since = now.latest();
  if (counted_) since = std::min(since, made_at_);
  if (exclusions_known_) since = std::min(since, exclusions_made_at_);
  std::vector<std::int32_t> changed;
  now.ForEachDifference(before, since, [&](std::size_t group) {
    changed.push_back(static_cast<std::int32_t>(group));
  });
  if (changed.size() * kWorthRebasing > groups) return false;
  counter_.reset();
  const auto go_on = [&](bool& known, Stamp& made_at, std::vector<std::int32_t>& stale) {
    if (!std::exchange(known, false)) return;
    stale.insert(stale.end(), changed.begin(), changed.end());
    made_at = now.latest();
    SortDistinct(stale);
    known = true;
  };
  go_on(counted_, made_at_, assumed_groups_);
  go_on(exclusions_known_, exclusions_made_at_, exclusions_stale_);
  return true;
}

bool ShapeCounts::NeedsLeaves(const PlacementJob& job) {
  return job.query.balanced || job.query.level == job.state->snapshot().tree().lowest();
}

CountsView ShapeCounts::LeavesIn(CountsStorage& leaves) {
  if (leaves_kept_) return storage_.View();
  leaves.Resize(snapshot_->domain_count(), storage_.with_slices(), storage_.with_leader());
  return leaves.View();
}

// Returns whether counting a group is summing its pods.
bool ShapeCounts::CanSumGroups() const {
  return counter_->sums() && !leaves_kept_ && assumed_groups_.empty();
}

std::size_t ShapeCounts::Prepare(const PlacementJob& job) {
  CollectStale(job);
  if (cold_) return static_cast<std::size_t>(snapshot_->group_count());
  SortDistinct(stale_);
  return stale_.size();
}

void ShapeCounts::CollectStale(const PlacementJob& job) {
  const bool counted_before = std::exchange(counted_, false);
  snapshot_ = &job.state->snapshot();
  shape_ = job.shape.get();
  if (!counter_ || !counter_->IsValid(job)) counter_.emplace(job);
  counter_->Assume(job);
  const bool keep_leaves = leaves_kept_ || NeedsLeaves(job);
  cold_ = !counted_before || keep_leaves != leaves_kept_;
  stale_.clear();
  stale_done_ = 0;
  if (cold_) {
    const TreeView tree = snapshot_->tree();
    leaves_kept_ = keep_leaves;
    leaf_summary_.Forget();
    storage_.Resize(leaves_kept_ ? tree.domain_count() : tree.LevelBegin(tree.lowest()),
                    !shape_->slice.IsOnePod(tree.lowest()), job.query.leaders > 0);
    SetAssumedGroups(job, assumed_groups_);
    if (StartFromClasses(job)) {
      cold_ = false;
      AppendStale(job);
    }
  } else {
    stale_.swap(assumed_groups_);
    const bool several_lists = !stale_.empty();
    AppendStale(job);
    SetAssumedGroups(job, assumed_groups_);
    stale_.insert(stale_.end(), assumed_groups_.begin(), assumed_groups_.end());
    if (several_lists) SortDistinct(stale_);
  }
  latest_ = StampsOf(job).latest();
}

// Counts a state that was: leaves of a class hold the same. What changed since is stale.
bool ShapeCounts::StartFromClasses(const PlacementJob& job) {
  const FlavorState& state = *job.state;
  const TreeView tree = snapshot_->tree();
  if (state.classes() == nullptr || !counter_->sums() || !CanSumGroups() ||
      !counter_->SumClasses(*state.classes(),
                            storage_.View().pods + tree.LevelBegin(tree.lowest() - 1))) {
    return false;
  }
  RollUpAll();
  made_at_ = state.classes_stamp();
  return true;
}

// Groups that changed since the last refresh. A group without pods stays without while usage
// only grows.
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
      assumed_groups_.empty() && (leaves_kept_ || !NeedsLeaves(job))) {
    return;
  }
  CollectStale(job);
  CountGroups(snapshot_->group_count(), leaves);
  Finish();
}

// Counts the leaves of a group again.
void ShapeCounts::CountOneGroup(std::int32_t group, const CountsView& leaves) {
  const DomainRange of_group = snapshot_->GroupLeaves(group);
  leaf_summary_.BeforeChange(of_group);
  counter_->Count(of_group, leaves);
  leaf_summary_.AfterChange(of_group);
}

// Rolls up the leaves of some groups into these, where groups are domains.
void ShapeCounts::RollUpGroups(const LeafGroups& groups, const CountsView& leaves) {
  constexpr std::int32_t kTogether = 64;
  const TreeView tree = snapshot_->tree();
  if (tree.level_count == 1) return;
  const std::int32_t level = tree.lowest() - 1;
  const std::int32_t first = tree.LevelBegin(level);
  const CountsView counts = storage_.View();
  ChildSums sums[kTogether];
  for (std::int32_t begin = 0; begin < groups.count; begin += kTogether) {
    const LeafGroups some = groups.Part(begin, std::min(begin + kTogether, groups.count));
    const bool summed = counter_->SumChildren(some, leaves, sums);
    for (std::int32_t i = 0; i < some.count; ++i) {
      const std::int32_t domain = first + some[i];
      if (summed) {
        StoreDomain(sums[i], shape_->slice, counts, level, domain);
      } else {
        RollUpDomain(tree, shape_->slice, leaves, counts, level, domain);
      }
    }
  }
}

// Sums of pods alone: what a group gained or lost, its ancestors gain or lose.
void ShapeCounts::SumGroups(const LeafGroups& groups) {
  const TreeView tree = snapshot_->tree();
  StoredCount* pods = storage_.View().pods;
  const std::int32_t first = tree.LevelBegin(tree.lowest() - 1);
  if (cold_) return counter_->SumGroups(groups, pods + first + groups.first);
  sums_.resize(static_cast<std::size_t>(groups.count));
  counter_->SumGroups(groups, sums_.data());
  for (std::int32_t i = 0; i < groups.count; ++i) {
    const StoredCount gained = sums_[static_cast<std::size_t>(i)] - pods[first + groups[i]];
    if (gained == 0) continue;
    for (std::int32_t d = first + groups[i]; d >= 0; d = tree.parent[d]) pods[d] += gained;
  }
}

void ShapeCounts::CountGroups(std::int32_t end, CountsStorage& leaves) {
  const LeafGroups groups = TakeBefore(end, *snapshot_, cold_, stale_, stale_done_);
  if (groups.count == 0) return;
  groups_counted_ += groups.count;
  if (CanSumGroups()) return SumGroups(groups);
  const CountsView view = LeavesIn(leaves);
  if (cold_) {
    const std::int32_t last = groups[groups.count - 1];
    counter_->Count({snapshot_->GroupLeaves(groups[0]).begin, snapshot_->GroupLeaves(last).end},
                    view);
  } else {
    for (std::int32_t i = 0; i < groups.count; ++i) CountOneGroup(groups[i], view);
    leaf_summary_.NoteChanges();
  }
  RollUpGroups(groups, view);
}

// Rolls up every domain, from the groups to the roots.
void ShapeCounts::RollUpAll() {
  const TreeView tree = snapshot_->tree();
  const CountsView counts = storage_.View();
  for (std::int32_t level = tree.lowest() - 2; level >= 0; --level) {
    for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
      RollUpDomain(tree, shape_->slice, counts, level, d);
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
  } else if (!CanSumGroups()) {
    RollUpAncestors();
  }
  made_at_ = latest_;
  counted_ = true;
}

// Rolls up what is above the groups in stale_, each domain once. Groups are the domains above
// the leaves.
void ShapeCounts::RollUpAncestors() {
  const TreeView tree = snapshot_->tree();
  if (tree.level_count == 1) return;
  seen_.resize(static_cast<std::size_t>(tree.LevelBegin(tree.lowest())), 0);
  ++refresh_;
  for (std::int32_t& group : stale_) group += tree.LevelBegin(tree.lowest() - 1);
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
  if (leaves_kept_) source.slice_index_ = leaf_summary_.index();
  source.leaves_ = LeavesIn(leaves);
  source.counter_ = leaves_kept_ ? nullptr : &*counter_;
  source.lowest_ = tree.lowest();
  source.first_leaf_ = tree.LevelBegin(tree.lowest());
  const NodeFilter* filter = job.filter.get();
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
  CollectStaleExclusions(job);
  if (exclusions_cold_) return static_cast<std::size_t>(snapshot_->group_count());
  SortDistinct(exclusions_stale_);
  return exclusions_stale_.size();
}

// Does for exclusions what StartFromClasses does for counts.
bool ShapeCounts::StartExclusionsFromClasses(const PlacementJob& job) {
  reason_classes_ = nullptr;
  const std::shared_ptr<const LeafClasses>& classes = job.state->classes();
  if (classes == nullptr || !assumed_groups_.empty() ||
      !counter_->FindReasonsOfClasses(*classes, reason_of_class_, excluded_)) {
    return false;
  }
  reason_classes_ = classes;
  of_classes_.assign(classes->of_leaf().size() / TiledCapacity::kTileLeaves, true);
  exclusions_made_at_ = job.state->classes_stamp();
  return true;
}

void ShapeCounts::CollectStaleExclusions(const PlacementJob& job) {
  exclusions_done_ = 0;
  last_tile_ = -1;
  exclusions_cold_ = !std::exchange(exclusions_known_, false);
  if (exclusions_cold_) {
    const std::size_t resources = shape_->workers.names.size();
    excluded_.assign(resources + 2, 0);
    reasons_kept_ = resources <= ExclusionReasons::kMostResources;
    if (reasons_kept_) {
      const std::int32_t tiles = snapshot_->leaf_count() / TiledCapacity::kTileLeaves + 1;
      reason_of_leaf_.resize(static_cast<std::size_t>(tiles) * TiledCapacity::kTileLeaves);
    }
    exclusions_stale_.clear();
    exclusions_cold_ = !reasons_kept_ || !StartExclusionsFromClasses(job);
  }
  if (!exclusions_cold_ && (exclusions_made_at_ != StampsOf(job).latest() ||
                            !exclusions_stale_.empty() || !assumed_groups_.empty())) {
    exclusions_stale_.insert(exclusions_stale_.end(), assumed_groups_.begin(),
                             assumed_groups_.end());
    const bool several_lists = !exclusions_stale_.empty();
    AppendChanged(StampsOf(job), exclusions_made_at_, nullptr, exclusions_stale_);
    if (several_lists || snapshot_->group_width() != TiledCapacity::kTileLeaves) {
      SortDistinct(exclusions_stale_);
    }
  }
  exclusions_made_at_ = StampsOf(job).latest();
}

// Returns the tiles of some groups; neighbouring groups may share one.
LeafGroups ShapeCounts::TilesOf(const LeafGroups& groups) {
  if (snapshot_->group_width() == TiledCapacity::kTileLeaves) return groups;
  tiles_.clear();
  for (std::int32_t i = 0; i < groups.count; ++i) {
    const DomainRange leaves = snapshot_->GroupLeaves(groups[i]);
    const std::int32_t end =
        (leaves.end + TiledCapacity::kTileLeaves - 1) / TiledCapacity::kTileLeaves;
    for (std::int32_t tile = leaves.begin / TiledCapacity::kTileLeaves; tile < end; ++tile) {
      if (tile != last_tile_) tiles_.push_back(tile);
      last_tile_ = tile;
    }
  }
  return {tiles_.data(), 0, static_cast<std::int32_t>(tiles_.size())};
}

// Writes the reasons of the leaves of some tiles, as far as they have only those of their classes.
void ShapeCounts::SetReasonsOfClasses(const LeafGroups& tiles) {
  thread_local std::vector<std::int32_t> still_of_classes;
  still_of_classes.clear();
  for (std::int32_t i = 0; i < tiles.count; ++i) {
    const auto tile = static_cast<std::size_t>(tiles[i]);
    if (!of_classes_[tile]) continue;
    of_classes_[tile] = false;
    still_of_classes.push_back(tiles[i]);
  }
  const LeafGroups of_classes = {still_of_classes.data(), 0,
                                 static_cast<std::int32_t>(still_of_classes.size())};
  ActiveSimdImplementation().look_up(reason_of_class_, reason_classes_->of_leaf().data(),
                                     of_classes, reason_of_leaf_.data());
}

void ShapeCounts::CountGroupExclusions(std::int32_t end) {
  const LeafGroups tiles =
      TilesOf(TakeBefore(end, *snapshot_, exclusions_cold_, exclusions_stale_, exclusions_done_));
  if (tiles.count == 0) return;
  if (!exclusions_cold_ && reason_classes_ != nullptr) SetReasonsOfClasses(tiles);
  counter_->FindReasons(tiles, {static_cast<std::int32_t>(excluded_.size()) - 2,
                                reasons_kept_ ? reason_of_leaf_.data() : nullptr, exclusions_cold_,
                                excluded_.data()});
}

void ShapeCounts::FinishExclusions() {
  exclusions_stale_ = assumed_groups_;
  exclusions_known_ = reasons_kept_;
}

void ShapeCounts::CountExclusions(const PlacementJob& job, PlacementResult& result) {
  const std::lock_guard lock(exclusions_mutex_);
  CollectStaleExclusions(job);
  CountGroupExclusions(snapshot_->group_count());
  FinishExclusions();
  const auto resources = static_cast<std::ptrdiff_t>(shape_->workers.names.size());
  const auto outside = excluded_.begin() + resources;
  result.limited_by.assign(excluded_.begin(), outside);
  result.outside_domain = *outside;
}

}  // namespace espalier
