#include "fallback_cpu/shape_counts.hpp"

#include <algorithm>
#include <utility>

#include "host/engine/leaf_input.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/roll_up.hpp"

namespace espalier {
namespace {

void SortDistinct(std::vector<std::int32_t>& groups) {
  std::ranges::sort(groups);
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
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
  leaf_summary_.Forget();
  assumed_groups_.clear();
  excluded_of_ = {};
  reason_of_class_.clear();
}

void ShapeCounts::BeginWith(const ShapeCounts& of_parent, const PlacementJob& job) {
  if (!of_parent.counted_ || of_parent.leaves_kept_ || !of_parent.assumed_groups_.empty()) return;
  auto counted = OnBranch(of_parent.counted_version_, job);
  if (!counted) return;
  storage_ = of_parent.storage_;
  counted_version_ = *std::move(counted);
  exact_ = of_parent.exact_;
  counted_ = true;
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
  return cold_ ? static_cast<std::size_t>(snapshot_->group_count()) : stale_.size();
}

void ShapeCounts::CollectStale(const PlacementJob& job) {
  const bool counted_before = std::exchange(counted_, false);
  snapshot_ = &job.state->snapshot();
  shape_ = job.shape.get();
  if (!counter_ || !counter_->IsValid(job)) counter_.emplace(job);
  counter_->Assume(job);
  const bool keep_leaves = leaves_kept_ || NeedsLeaves(job);
  const bool exact_before = std::exchange(exact_, counter_->sums());
  // Sums gain and lose differences, which only exact ones can.
  cold_ = !counted_before || keep_leaves != leaves_kept_ || (exact_ && !exact_before);
  stale_.clear();
  stale_done_ = 0;
  if (!cold_) {
    stale_.swap(assumed_groups_);
    const bool assumed_before = !stale_.empty();
    SetAssumedGroups(job, assumed_groups_);
    cold_ = IsSoonerByClasses(job) || !NoteStale(job);
    stale_.insert(stale_.end(), assumed_groups_.begin(), assumed_groups_.end());
    if (assumed_before || !assumed_groups_.empty()) SortDistinct(stale_);
  }
  if (cold_) {
    const TreeView tree = snapshot_->tree();
    leaves_kept_ = keep_leaves;
    leaf_summary_.Forget();
    storage_.Resize(leaves_kept_ ? tree.domain_count() : tree.LevelBegin(tree.lowest()),
                    !shape_->slice.IsOnePod(tree.lowest()), job.query.leaders > 0);
    stale_.clear();
    SetAssumedGroups(job, assumed_groups_);
    if (StartFromClasses(job)) {
      cold_ = false;
      NoteStale(job);
    }
  }
  latest_ = CapacityVersion::Of(job);
}

// Returns whether leaves have been classified since so much changed that all groups are counted
// sooner by classes than those that differ.
bool ShapeCounts::IsSoonerByClasses(const PlacementJob& job) const {
  constexpr std::size_t kWorthClasses = 4;
  const FlavorState& state = *job.state;
  if (state.classes() == nullptr || state.classes_stamp() != state.stamps().latest() ||
      job.simulate_empty || !CanSumGroups()) {
    return false;
  }
  std::size_t changed = 0;  // groups, at most
  state.stamps().ForRunsSince(counted_version_.at,
                              [&](std::size_t begin, std::size_t end) { changed += end - begin; });
  return changed * kWorthClasses > static_cast<std::size_t>(snapshot_->group_count());
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
  counted_version_ = {state.identity(), SharedStampsOf(job), state.classes_stamp()};
  return true;
}

// Notes the groups that differ from what was counted. A group without pods stays without while
// usage only grows. Returns false where counting all groups is sooner.
bool ShapeCounts::NoteStale(const PlacementJob& job) {
  const TreeView tree = snapshot_->tree();
  const bool skip_empty =
      counter_->sums() && !leaves_kept_ && job.state->OnlyShrankSince(counted_version_.at);
  return AppendStale(
      counted_version_, job,
      skip_empty ? storage_.View().pods + tree.LevelBegin(tree.lowest() - 1) : nullptr, stale_);
}

void ShapeCounts::Refresh(const PlacementJob& job, CountsStorage& leaves) {
  // The capacity may be the same and its array another one.
  if (counted_ && counter_ && counter_->IsValid(job) && counted_version_.IsOf(job) &&
      job.assumed.empty() && assumed_groups_.empty() && (leaves_kept_ || !NeedsLeaves(job))) {
    return;
  }
  CollectStale(job);
  CountGroups(snapshot_->group_count(), leaves);
  Finish();
}

// Counts the leaves of some groups, those of neighbours together.
void ShapeCounts::CountLeavesOf(const LeafGroups& groups, const CountsView& leaves) {
  for (std::int32_t i = 0; i < groups.count;) {
    const std::int32_t first = groups[i];
    while (++i < groups.count && groups[i] == groups[i - 1] + 1) {
    }
    const DomainRange run{snapshot_->GroupLeaves(first).begin,
                          snapshot_->GroupLeaves(groups[i - 1]).end};
    leaf_summary_.BeforeChange(run);
    counter_->Count(run, leaves);
    leaf_summary_.AfterChange(run);
  }
  leaf_summary_.NoteChanges();
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

// Returns the groups before `end` that are to be counted and have not been taken yet.
LeafGroups ShapeCounts::TakeBefore(std::int32_t end) {
  const std::int32_t first = stale_done_;
  if (cold_) {
    stale_done_ = std::min(end, snapshot_->group_count());
    return {nullptr, first, stale_done_ - first};
  }
  const auto last = std::lower_bound(stale_.begin() + first, stale_.end(), end);
  stale_done_ = static_cast<std::int32_t>(last - stale_.begin());
  return {stale_.data() + first, 0, stale_done_ - first};
}

void ShapeCounts::CountGroups(std::int32_t end, CountsStorage& leaves) {
  const LeafGroups groups = TakeBefore(end);
  if (groups.count == 0) return;
  groups_counted_ += groups.count;
  if (CanSumGroups()) return SumGroups(groups);
  const CountsView view = LeavesIn(leaves);
  CountLeavesOf(groups, view);
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
  counted_version_ = latest_;
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
  source.stored_.affinity = source.leaves_.affinity = ScoresOf(job);
  return source;
}

const CountsView& ShapeCounts::Source::Of(SerialTeam& /*team*/, std::int32_t level,
                                          DomainRange domains) const {
  if (level < lowest_ || counter_ == nullptr) return stored_;
  counter_->Count({domains.begin - first_leaf_, domains.end - first_leaf_}, leaves_);
  return leaves_;
}

const CountsView& ShapeCounts::Source::OfChildren(SerialTeam& team, const TreeView& tree,
                                                  std::int32_t level,
                                                  const ShareList& parents) const {
  if (level + 1 < lowest_ || counter_ == nullptr) return stored_;
  for (std::int32_t i = 0; i < parents.size; ++i) {
    Of(team, level + 1, ChildrenOf(tree, parents[i].domain));
  }
  return leaves_;
}

ShapeCounts::Source ShapeCounts::Source::InPlace(const CountsView& others) const {
  Source source = *this;
  source.stored_ = others;
  source.counter_ = nullptr;
  return source;
}

namespace {

// Returns the classes of the leaves of a job's state.
std::shared_ptr<ClassesCache::Entry> ClassesOf(const PlacementJob& job, ClassesCache& classes) {
  return classes.Get(job, nullptr, CapacityClasses::MostBytes(*job.state));
}

}  // namespace

void ShapeCounts::CountExclusions(const PlacementJob& job, ExclusionCaches& caches,
                                  FailedPlacement& failed) {
  const LeafReasons reasons(job);
  const std::int32_t leaves = snapshot_->leaf_count();
  if (IsPartial(job)) {  // too rare to be kept
    for (std::int32_t leaf = 0; leaf < leaves; ++leaf) {
      const bool outside = !InsideDomain(reasons.input(), leaf);
      if (outside && Matches(reasons.input(), leaf)) ++failed.outside_domain;
    }
    failed.limited_by.assign(shape_->workers.names.size(), 0);
    reasons.CountAll(leaves, failed.limited_by);
  } else {
    const std::lock_guard lock(exclusions_mutex_);
    if (!excluded_of_.IsOf(job)) CountExcluded(job, caches);
    failed.limited_by = excluded_;
  }
  for (const AssumedLeaf& assumed : job.assumed) {
    if (!Admits(reasons.input(), assumed.leaf.value)) continue;
    reasons.Count(assumed.leaf.value, nullptr, -1, failed.limited_by);
    reasons.Count(assumed.leaf.value, assumed.amounts.data(), 1, failed.limited_by);
  }
}

// Counts what excludes the leaves of the whole flavor, without assumed usage.
void ShapeCounts::CountExcluded(const PlacementJob& job, ExclusionCaches& caches) {
  excluded_of_ = {};
  excluded_.assign(shape_->workers.names.size(), 0);
  const FlavorState& state = *job.state;
  const bool unchanged = state.classes() != nullptr && !job.simulate_empty &&
                         state.classes_stamp() == state.stamps().latest();
  const bool in_bulk =
      CapacityClasses::CanClassify(state) &&
      std::ranges::none_of(shape_->workers.amounts, [](Amount amount) { return amount < 0; });
  if (!in_bulk) {
    LeafReasons(job).CountAll(snapshot_->leaf_count(), excluded_);
  } else if (!unchanged || !counter_->CountExcluded(*state.classes(), excluded_)) {
    const auto classes = ClassesOf(job, caches.classes);
    if (const CapacityClasses::Leaves leaves = FindReasons(job, *classes)) {
      AddByReason(reason_of_class_, leaves->data(), leaves->size(), excluded_);
    } else {
      const auto by_leaf =
          caches.by_leaf.Get(job, job.shape, ExcludedLeaves::MostBytes(*job.state));
      const std::lock_guard lock(by_leaf->mutex);
      by_leaf->BeginWithParent(job);
      excluded_ = by_leaf->value.Count(job, *counter_);
    }
  }
  excluded_of_ = CapacityVersion::Of(job);
}

// Brings reason_of_class_ up to date; returns the leaves of each class, valid as long as the entry.
// Returns null, and does nothing, where the leaves are not classified.
CapacityClasses::Leaves ShapeCounts::FindReasons(const PlacementJob& job,
                                                 ClassesCache::Entry& entry) {
  CapacityClasses::Leaves leaves;
  {
    const std::lock_guard lock(entry.mutex);
    entry.BeginWithParent(job);
    leaves = entry.value.LeavesOf(job);
  }
  if (leaves == nullptr) return leaves;
  // Nothing of this is written while jobs on the state run.
  const CapacityClasses& known = entry.value;
  if (std::exchange(numbering_, known.numbering()) != known.numbering()) reason_of_class_.clear();
  constexpr std::int32_t kTile = CapacityClasses::kTile;
  const std::int32_t tiles = (known.count() + kTile - 1) / kTile;
  const auto found = static_cast<std::int32_t>(reason_of_class_.size()) / kTile;
  reason_of_class_.resize(static_cast<std::size_t>(tiles) * kTile);
  const LeafReasons reasons(job);
  // The last tile that was found may have got more classes since.
  for (std::int32_t tile = std::max(found - 1, 0); tile < tiles; ++tile) {
    ActiveSimdImplementation().find_reasons(reasons.input().workers, known.RemainingIn(tile), kTile,
                                            reason_of_class_.data() + tile * kTile);
  }
  return leaves;
}

void ShapeCounts::PrepareExclusions(const PlacementJob& job, ExclusionCaches& caches) {
  const std::lock_guard lock(exclusions_mutex_);
  if (!reason_of_class_.empty() && CapacityClasses::CanClassify(*job.state)) {
    FindReasons(job, *ClassesOf(job, caches.classes));
  }
}

}  // namespace espalier
