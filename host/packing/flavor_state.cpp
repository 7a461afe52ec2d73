#include "host/packing/flavor_state.hpp"

#include <algorithm>
#include <utility>

#include "host/packing/parallel_for.hpp"

namespace espalier {
namespace {

// Use count of own_free_ when this state alone holds it, in own_free_ and free_.
constexpr long kOnlyHere = 2;

// Copying all groups is sooner where more than one in this many differ.
constexpr std::size_t kWorthCopyingAll = 4;

}  // namespace

FlavorState::FlavorState(std::shared_ptr<const FlavorSnapshot> snapshot, WorkBudget& budget)
    : snapshot_(std::move(snapshot)),
      identity_(GroupStamps::Next()),
      stamps_(std::make_shared<GroupStamps>(static_cast<std::size_t>(snapshot_->group_count()))),
      free_(snapshot_->shared_free()),
      free_stamps_(std::make_shared<const GroupStamps>(*stamps_)),
      // All of it is charged beforehand but the tiles, of which it is not known before.
      remaining_(budget.Charge(snapshot_->free().Bytes() + SmallBytes()) ? snapshot_->free()
                                                                         : PagedArray<Amount>()),
      tiles_(remaining_, snapshot_->stride(), snapshot_->leaf_count(), snapshot_->magnitudes(),
             budget),
      magnitude_(snapshot_->magnitudes()) {}

// Returns the bytes of everything but the arrays of amounts.
std::int64_t FlavorState::SmallBytes() const {
  return static_cast<std::int64_t>(
      sizeof(*this) + static_cast<std::size_t>(snapshot_->group_count()) * sizeof(Stamp) +
      static_cast<std::size_t>(snapshot_->leaf_count()) +  // their classes
      snapshot_->magnitudes().size() * sizeof(Amount));
}

std::int64_t FlavorState::Bytes() const {
  return SmallBytes() + remaining_.Bytes() + tiles_.Bytes();
}

FlavorState::FlavorState(const FlavorState& other)
    : snapshot_(other.snapshot_),
      identity_(GroupStamps::Next()),
      stamps_(std::make_shared<GroupStamps>(other.stamps_->of_group().size())),
      free_(other.free_),
      free_stamps_(other.free_stamps_),
      remaining_(other.remaining_),
      clamped_usage_(other.clamped_usage_),
      tiles_(other.tiles_),
      magnitude_(other.magnitude_),
      range_version_(other.range_version_) {
  if (other.classes_stamp_ == other.stamps_->latest()) classes_ = other.classes_;
  classes_stamp_ = stamps_->latest();
}

void FlavorState::ClassifyLeaves() {
  if (remaining_.sparse()) return;
  classes_ = LeafClasses::Find(tiles_, snapshot_->leaf_count());
  classes_stamp_ = stamps_->latest();
}

std::unique_ptr<FlavorState> FlavorState::Branch(std::unique_ptr<FlavorState> spare) const {
  if (spare == nullptr) {
    spare = std::make_unique<FlavorState>(*this);
  } else {
    spare->CopyAmounts(*this);
    spare->snapshot_ = snapshot_;
    spare->identity_ = GroupStamps::Next();
  }
  spare->parent_ = identity_;
  spare->branched_at_ = stamps_->latest();
  spare->stamps_ = std::make_shared<GroupStamps>(*stamps_);
  spare->classes_ = classes_;
  spare->classes_stamp_ = classes_stamp_;
  spare->grown_at_ = grown_at_;
  return spare;
}

// Copies what the constructor for copies does, but only the groups that differ unless those are
// many.
void FlavorState::CopyAmounts(const FlavorState& original) {
  if (const auto groups = WorthCopying(original.stamps(), stamps())) {
    for (const std::int32_t group : *groups) {
      CopyGroup(original.remaining_, group, remaining_);
      tiles_.CopyTiles(original.tiles_, snapshot_->GroupLeaves(group));
    }
    tiles_.CopyRanges(original.tiles_);
  } else {
    remaining_ = PagedArray<Amount>(original.remaining_);
    tiles_ = TiledCapacity(original.tiles_);
  }
  CopyFree(original);
  clamped_usage_ = original.clamped_usage_;
  magnitude_ = original.magnitude_;
  range_version_ = original.range_version_;
}

// Shares the array of `original`, or brings one up to date that nobody else has.
void FlavorState::CopyFree(const FlavorState& original) {
  if (free_stamps_ == original.free_stamps_) return;
  const auto groups = own_free_.use_count() == kOnlyHere
                          ? WorthCopying(*original.free_stamps_, *free_stamps_)
                          : std::nullopt;
  if (groups) {
    for (const std::int32_t group : *groups) CopyGroup(original.free(), group, *own_free_);
  } else {
    own_free_ = nullptr;
    free_ = original.free_;
  }
  free_stamps_ = original.free_stamps_;
}

// Returns the groups in which two states differ; nullopt where copying everything is sooner.
std::optional<std::vector<std::int32_t>> FlavorState::WorthCopying(const GroupStamps& from,
                                                                   const GroupStamps& to) const {
  if (remaining_.sparse()) return std::nullopt;
  std::vector<std::int32_t> groups;
  from.ForEachDifference(to, to.latest(), [&](std::size_t group) {
    groups.push_back(static_cast<std::int32_t>(group));
  });
  if (groups.size() > from.of_group().size() / kWorthCopyingAll) return std::nullopt;
  return groups;
}

void FlavorState::CopyGroup(const PagedArray<Amount>& from, std::int32_t group,
                            PagedArray<Amount>& to) const {
  const DomainRange leaves = snapshot_->GroupLeaves(group);
  for (std::size_t column = 0; column < magnitude_.size(); ++column) {
    const std::int64_t first =
        static_cast<std::int64_t>(column) * snapshot_->stride() + leaves.begin;
    std::copy_n(from.begin() + first, leaves.size(), to.begin() + first);
  }
}

template <Amount (*Combine)(Amount, Amount)>
Amount FlavorState::ChangeAmount(std::int32_t column, LeafId leaf, Amount amount) {
  const auto at = static_cast<std::size_t>(column * snapshot_->stride() + leaf.value);
  const Amount before = remaining_[at];
  Amount after = 0;
  if (Magnitude(column) < kExact && amount < kExact && amount > -kExact) {
    after = before - Combine(0, amount);  // nothing can saturate
  } else {
    const Amount usage = Combine(Usage(at), amount);
    after = SaturatingSubtract(free()[at], usage);
    Amount exact = 0;
    if (__builtin_sub_overflow(free()[at], usage, &exact)) {
      clamped_usage_[at] = usage;
    } else {
      clamped_usage_.erase(at);
    }
  }
  remaining_.Use(at);
  remaining_[at] = after;
  if (after > before) grown_at_ = changing_;
  NoteMagnitude(column, after);
  return after;
}

void FlavorState::NoteMagnitude(std::int32_t column, Amount amount) {
  Amount& magnitude = magnitude_[static_cast<std::size_t>(column)];
  if (espalier::Magnitude(amount) <= magnitude) return;
  magnitude = espalier::Magnitude(amount);
  ++range_version_;
}

bool FlavorState::IsExact() const {
  return clamped_usage_.empty() &&
         std::ranges::all_of(magnitude_, [](Amount magnitude) { return magnitude < kExact; });
}

void FlavorState::ChangeCapacity(std::span<const CapacityChange> changes) {
  if (changes.empty()) return;
  if (own_free_.use_count() != kOnlyHere) {
    own_free_ = std::make_shared<PagedArray<Amount>>(*free_);
    free_ = own_free_;
    ++range_version_;  // whoever counts with the array has to look for it again
  }
  changing_ = GroupStamps::Next();
  const auto free_stamps = std::make_shared<GroupStamps>(*free_stamps_);
  free_stamps_ = free_stamps;
  for (const auto& [leaf, amounts, sign] : changes) {
    Bind(*amounts);
    const auto group = static_cast<std::size_t>(snapshot_->GroupOf(leaf));
    free_stamps->Set(group, changing_);
    stamps_->Set(group, changing_);
    for (const auto& [column, amount] : bound_) {
      const auto at = static_cast<std::size_t>(column * snapshot_->stride() + leaf.value);
      own_free_->Use(at);
      Amount& free = (*own_free_)[at];
      free += sign * amount;
      NoteMagnitude(column, free);
      // The remaining amount changes as if so much less were used.
      const Amount after = ChangeAmount<SaturatingSubtract>(column, leaf, sign * amount);
      SetTile(column, std::array{TiledCapacity::LeafAmount{leaf.value, after}});
    }
  }
}

void FlavorState::SetNodes(std::shared_ptr<const FlavorSnapshot> snapshot,
                           std::span<const LeafId> changed) {
  snapshot_ = std::move(snapshot);
  changing_ = GroupStamps::Next();
  grown_at_ = changing_;  // pods may come to pass a filter
  const auto free_stamps = std::make_shared<GroupStamps>(*free_stamps_);
  for (const LeafId leaf : changed) {
    const auto group = static_cast<std::size_t>(snapshot_->GroupOf(leaf));
    free_stamps->Set(group, changing_);
    stamps_->Set(group, changing_);
  }
  free_stamps_ = free_stamps;
}

namespace {

// Copies columns of amounts to where their leaves are now; leaves that have joined get 0.
PagedArray<Amount> MoveColumns(const PagedArray<Amount>& before, std::int64_t stride_before,
                               std::int64_t stride, std::size_t columns,
                               const FlavorTree::Edited& edited) {
  PagedArray<Amount> after(static_cast<std::size_t>(stride) * columns + FlavorSnapshot::kReadAhead,
                           false);
  std::fill_n(after.end() - FlavorSnapshot::kReadAhead, FlavorSnapshot::kReadAhead, 0);
  ParallelFor(columns, after.size(), [&](std::size_t column) {
    const Amount* from = before.begin() + static_cast<std::int64_t>(column) * stride_before;
    Amount* to = after.begin() + static_cast<std::int64_t>(column) * stride;
    for (const LeafRun& run : edited.runs) std::copy_n(from + run.from, run.size, to + run.to);
    for (const LeafId leaf : edited.joined) to[leaf.value] = 0;
    std::fill(to + edited.tree->leaf_count(), to + stride, 0);
  });
  return after;
}

}  // namespace

FlavorState::FlavorState(std::shared_ptr<const FlavorSnapshot> snapshot, PagedArray<Amount> free,
                         PagedArray<Amount> remaining, const FlavorState& before,
                         WorkBudget& budget)
    : snapshot_(std::move(snapshot)),
      identity_(GroupStamps::Next()),
      stamps_(std::make_shared<GroupStamps>(static_cast<std::size_t>(snapshot_->group_count()))),
      own_free_(std::make_shared<PagedArray<Amount>>(std::move(free))),
      free_(own_free_),
      free_stamps_(std::make_shared<const GroupStamps>(*stamps_)),
      remaining_(std::move(remaining)),
      tiles_(remaining_, snapshot_->stride(), snapshot_->leaf_count(), before.magnitude_, budget),
      magnitude_(before.magnitude_) {}

std::unique_ptr<FlavorState> FlavorState::On(const FlavorTree::Edited& edited,
                                             WorkBudget& budget) const {
  if (!budget.Charge(2 * remaining_.Bytes() + SmallBytes())) return nullptr;
  auto snapshot = snapshot_->On(edited);
  const auto moved = [&](const PagedArray<Amount>& amounts) {
    return MoveColumns(amounts, snapshot_->stride(), snapshot->stride(), magnitude_.size(), edited);
  };
  PagedArray<Amount> free = moved(*free_);
  PagedArray<Amount> remaining = moved(remaining_);
  std::unique_ptr<FlavorState> after(
      new FlavorState(std::move(snapshot), std::move(free), std::move(remaining), *this, budget));
  after->MoveClasses(*this, edited.runs);
  return after;
}

// Takes over the classes of `before` where few leaves are no longer what they were when these were
// found, else finds all anew. Classes are of units, which the tiles of the new tree have chosen
// anew.
void FlavorState::MoveClasses(const FlavorState& before, std::span<const LeafRun> runs) {
  if (before.classes_ == nullptr) return;
  for (std::size_t i = 0; i < snapshot_->resources().size(); ++i) {
    const auto column = static_cast<std::int32_t>(i);
    if (tiles_.UnitShift(column) != before.tiles_.UnitShift(column) ||
        tiles_.Exact(column) != before.tiles_.Exact(column)) {
      return ClassifyLeaves();
    }
  }
  std::vector<std::int32_t> changed;  // groups before
  before.stamps_->ForEachSince(before.classes_stamp_, [&](std::size_t group) {
    changed.push_back(static_cast<std::int32_t>(group));
  });
  if (changed.size() > before.stamps_->of_group().size() / kWorthCopyingAll) {
    return ClassifyLeaves();
  }
  classes_ = before.classes_->Moved(runs, snapshot_->leaf_count());
  classes_stamp_ = stamps_->latest();
  changing_ = GroupStamps::Next();
  grown_at_ = changing_;  // as far as is known
  for (const std::int32_t group : changed) {
    const DomainRange leaves = before.snapshot_->GroupLeaves(group);
    for (const LeafRun& run : runs) {
      const std::int32_t begin = std::max(leaves.begin, run.from);
      const std::int32_t end = std::min(leaves.end, run.from + run.size);
      for (std::int32_t leaf = begin; leaf < end; ++leaf) {
        const LeafId moved(run.to + leaf - run.from);
        stamps_->Set(static_cast<std::size_t>(snapshot_->GroupOf(moved)), changing_);
      }
    }
  }
}

// Binds amounts to columns; lists of names, which usage mostly shares, once.
void FlavorState::Bind(const Resources& usage) {
  bound_.clear();
  if (usage.empty()) return;
  if (usage.keys() != bound_list_) {
    const std::vector<std::string>& resources = snapshot_->resources();
    const std::vector<std::string>& names = *usage.keys();
    bound_list_ = nullptr;  // until all are bound
    bound_keys_.clear();
    std::size_t column = 0;  // both lists ascend
    for (std::size_t entry = 0; entry < names.size(); ++entry) {
      int order = -1;
      while (column < resources.size() && (order = resources[column].compare(names[entry])) < 0) {
        ++column;
      }
      if (order == 0) bound_keys_.push_back({static_cast<std::int32_t>(column++), entry});
    }
    bound_list_ = usage.keys();
  }
  for (const auto& [column, entry] : bound_keys_) {
    bound_.push_back({column, usage.values()[entry]});
  }
}

// Binds amounts less others; copies them only where the resources differ.
void FlavorState::BindDifference(const Resources& usage, const Resources& instead_of) {
  if (usage.empty() || usage.keys() != instead_of.keys()) {
    Resources difference = usage;
    difference.Merge(instead_of, [](Amount& sum, Amount amount) { sum -= amount; });
    return Bind(difference);
  }
  Bind(usage);
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    bound_[i].amount -= instead_of.values()[bound_keys_[i].entry];
  }
}

template <Amount (*Combine)(Amount, Amount)>
void FlavorState::ChangeAll(std::span<const LeafChange> changes) {
  constexpr std::size_t kAhead = 8;
  const Resources* bound = nullptr;
  changing_ = GroupStamps::Next();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& [leaf, usage, instead_of] = changes[i];
    if (instead_of != nullptr) {
      BindDifference(*usage, *instead_of);
    } else if (usage != bound) {
      Bind(*usage);
    }
    bound = instead_of == nullptr ? usage : nullptr;
    if (i + kAhead < changes.size()) {
      // The change ahead is taken to be of the same resources. This is not in a function of its
      // own: GCC drops calls of one that only fetches, unless it is small enough to be inlined
      // before.
      const std::int32_t ahead = changes[i + kAhead].leaf.value;
      for (const BoundAmount& amount : bound_) {
        __builtin_prefetch(remaining_.data() + amount.column * snapshot_->stride() + ahead);
        tiles_.Prefetch(amount.column, ahead);
      }
    }
    // First, so that memory that runs out leaves no change without a stamp.
    stamps_->Set(static_cast<std::size_t>(snapshot_->GroupOf(leaf)), changing_);
    for (const auto& [column, amount] : bound_) {
      if (amount == 0) continue;
      const Amount after = ChangeAmount<Combine>(column, leaf, amount);
      SetTile(column, std::array{TiledCapacity::LeafAmount{leaf.value, after}});
    }
  }
}

void FlavorState::Add(std::span<const LeafChange> changes) { ChangeAll<SaturatingAdd>(changes); }

void FlavorState::Remove(std::span<const LeafChange> changes) {
  ChangeAll<SaturatingSubtract>(changes);
}

void FlavorState::Remove(std::span<const LeafAmount> amounts) {
  changing_ = GroupStamps::Next();
  std::array<TiledCapacity::LeafAmount, TiledCapacity::kTileLeaves> of_tile;
  DomainRange stamped;  // leaves of the last group
  for (std::size_t i = 0; i < amounts.size();) {
    // A run of one column, on leaves of one tile that ascend.
    const std::int32_t column = amounts[i].column;
    const std::size_t tile = TiledCapacity::TileOf(amounts[i].leaf);
    std::size_t size = 0;
    do {
      const LeafId leaf(amounts[i].leaf);
      if (leaf.value < stamped.begin || leaf.value >= stamped.end) {
        const std::int32_t group = snapshot_->GroupOf(leaf);
        stamps_->Set(static_cast<std::size_t>(group), changing_);
        stamped = snapshot_->GroupLeaves(group);
      }
      const Amount after = ChangeAmount<SaturatingSubtract>(column, leaf, amounts[i].amount);
      of_tile[size++] = {leaf.value, after};
    } while (++i < amounts.size() && amounts[i].column == column &&
             amounts[i].leaf > amounts[i - 1].leaf &&
             TiledCapacity::TileOf(amounts[i].leaf) == tile);
    SetTile(column, std::span(of_tile).first(size));
  }
}

void FlavorState::Book(std::span<const LeafShare> shares, const PodShape& shape) {
  changing_ = GroupStamps::Next();
  for (const LeafShare& share : shares) {
    stamps_->Set(static_cast<std::size_t>(snapshot_->GroupOf(share.leaf)), changing_);
  }
  // Adds by column and tile, so that neighbouring leaves meet in the cache.
  const auto add = [&](const RequestVector& vector, auto pods_of) {
    for (std::size_t i = 0; i < vector.columns.size(); ++i) {
      const std::int32_t column = vector.columns[i];
      if (column < 0 || vector.amounts[i] == 0) continue;
      std::array<TiledCapacity::LeafAmount, TiledCapacity::kTileLeaves> of_tile;
      std::size_t size = 0;
      const auto set = [&] { SetTile(column, std::span(of_tile).first(size)); };
      for (const LeafShare& share : shares) {
        if (pods_of(share) == 0) continue;
        const std::int32_t leaf = share.leaf.value;
        if (size == of_tile.size() ||
            (size > 0 && TiledCapacity::TileOf(leaf) != TiledCapacity::TileOf(of_tile[0].leaf))) {
          set();
          size = 0;
        }
        const Amount added = SaturatingMultiply(vector.amounts[i], pods_of(share));
        of_tile[size++] = {leaf, ChangeAmount<SaturatingAdd>(column, share.leaf, added)};
      }
      set();
    }
  };
  add(shape.workers, [](const LeafShare& share) { return share.pods; });
  add(shape.leader, [](const LeafShare& share) { return Count{share.leaders}; });
}

}  // namespace espalier
