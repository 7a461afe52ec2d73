#include "host/packing/flavor_state.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

namespace espalier {
namespace {

std::uint64_t NextIdentity() {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

// Amounts and sums of a few such amounts stay within int64.
constexpr Amount kSmall = Amount{1} << 60;

// A log that so many states have written is not handed on.
constexpr std::size_t kMaxWriters = 64;

}  // namespace

FlavorState::FlavorState(std::shared_ptr<const FlavorSnapshot> snapshot, WorkBudget& budget)
    : snapshot_(std::move(snapshot)),
      identity_(NextIdentity()),
      // All of it is charged beforehand but the tiles, of which it is not known before.
      remaining_(budget.Charge(snapshot_->free().Bytes() + SmallBytes()) ? snapshot_->free()
                                                                         : PagedArray<Amount>()),
      tiles_(remaining_, snapshot_->stride(), snapshot_->leaf_count(), snapshot_->magnitudes(),
             budget),
      last_change_(static_cast<std::size_t>(snapshot_->block_count()), -1),
      magnitude_(snapshot_->magnitudes()) {
  log_->writers.push_back({identity_});
}

// What there is apart from the arrays of amounts.
std::int64_t FlavorState::SmallBytes() const {
  return static_cast<std::int64_t>(
      sizeof(*this) + static_cast<std::size_t>(snapshot_->block_count()) * sizeof(std::int32_t) +
      static_cast<std::size_t>(snapshot_->leaf_count()) +  // their classes
      snapshot_->magnitudes().size() * sizeof(Amount));
}

std::int64_t FlavorState::Bytes() const {
  return SmallBytes() + remaining_.Bytes() + tiles_.Bytes();
}

FlavorState::FlavorState(const FlavorState& other)
    : snapshot_(other.snapshot_),
      identity_(NextIdentity()),
      remaining_(other.remaining_),
      clamped_usage_(other.clamped_usage_),
      tiles_(other.tiles_),
      last_change_(other.last_change_.size(), -1),
      magnitude_(other.magnitude_),
      range_version_(other.range_version_) {
  log_->writers.push_back({identity_});
  if (other.classes_position_ == other.log_->blocks.size()) classes_ = other.classes_;
}

void FlavorState::ClassifyLeaves() {
  if (remaining_.sparse()) return;
  classes_ = LeafClasses::Find(tiles_, snapshot_->leaf_count());
  classes_position_ = log_->blocks.size();
}

bool FlavorState::ContinueLogOf(const FlavorState& original) {
  const ChangeLog& before = *original.log_;
  // Copying it must stay cheap beside copying the amounts.
  if (before.blocks.size() > static_cast<std::size_t>(remaining_.Bytes()) / sizeof(Amount) ||
      before.writers.size() >= kMaxWriters) {
    return false;
  }
  log_->blocks = before.blocks;
  log_->writers = before.writers;
  log_->writers.back().end = before.blocks.size();
  log_->writers.push_back({identity_});
  last_change_ = original.last_change_;
  grown_at_ = original.grown_at_;
  classes_ = original.classes_;
  classes_position_ = original.classes_position_;
  return true;
}

Amount FlavorState::Usage(std::size_t at) const {
  const auto clamped = clamped_usage_.find(at);
  return clamped != clamped_usage_.end() ? clamped->second : snapshot_->free()[at] - remaining_[at];
}

template <Amount (*Combine)(Amount, Amount)>
Amount FlavorState::ChangeAmount(std::int32_t column, LeafId leaf, Amount amount) {
  const auto at = static_cast<std::size_t>(column * snapshot_->stride() + leaf.value);
  Amount& magnitude = magnitude_[static_cast<std::size_t>(column)];
  const Amount before = remaining_[at];
  Amount after = 0;
  if (magnitude < kSmall && amount < kSmall && amount > -kSmall) {
    after = before - Combine(0, amount);  // nothing can saturate
  } else {
    const Amount usage = Combine(Usage(at), amount);
    after = SaturatingSubtract(snapshot_->free()[at], usage);
    Amount exact = 0;
    if (__builtin_sub_overflow(snapshot_->free()[at], usage, &exact)) {
      clamped_usage_[at] = usage;
    } else {
      clamped_usage_.erase(at);
    }
  }
  remaining_.Use(at);
  remaining_[at] = after;
  if (after > before) grown_at_ = log_->blocks.size() + 1;
  if (espalier::Magnitude(after) > magnitude) {
    magnitude = espalier::Magnitude(after);
    ++range_version_;
  }
  return after;
}

void FlavorState::NoteChange(std::int32_t block) {
  last_change_[static_cast<std::size_t>(block)] = static_cast<std::int32_t>(log_->blocks.size());
  log_->blocks.push_back(block);
}

// Binds names to columns; both lists ascend.
void FlavorState::Bind(const Resources& usage) {
  const std::vector<std::string>& resources = snapshot_->resources();
  bound_.clear();
  std::size_t column = 0;
  for (const auto& [name, amount] : usage) {
    int order = -1;
    while (column < resources.size() && (order = resources[column].compare(name)) < 0) ++column;
    if (order == 0) bound_.push_back({static_cast<std::int32_t>(column++), amount});
  }
}

template <Amount (*Combine)(Amount, Amount)>
void FlavorState::ChangeAll(std::span<const LeafChange> changes) {
  constexpr std::size_t kAhead = 8;
  const Resources* bound = nullptr;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto& [leaf, usage] = changes[i];
    if (usage != bound) Bind(*usage);
    bound = usage;
    if (i + kAhead < changes.size()) {
      // As if it were of the same resources. Not in a function of its own: GCC drops calls of one
      // that only fetches, unless it is small enough to be inlined before.
      const std::int32_t ahead = changes[i + kAhead].leaf.value;
      for (const BoundAmount& amount : bound_) {
        __builtin_prefetch(remaining_.data() + amount.column * snapshot_->stride() + ahead);
        tiles_.Prefetch(amount.column, ahead);
      }
    }
    for (const auto& [column, amount] : bound_) {
      const Amount after = ChangeAmount<Combine>(column, leaf, amount);
      tiles_.Set(column, std::array{TiledCapacity::LeafAmount{leaf.value, after}});
    }
    NoteChange(snapshot_->BlockOf(leaf));
  }
}

void FlavorState::Add(std::span<const LeafChange> changes) { ChangeAll<SaturatingAdd>(changes); }

void FlavorState::Remove(std::span<const LeafChange> changes) {
  ChangeAll<SaturatingSubtract>(changes);
}

void FlavorState::Book(std::span<const LeafShare> shares, const RequestVector& workers,
                       const RequestVector& leader) {
  // By column and tile, so that neighbouring leaves meet in the cache.
  const auto add = [&](const RequestVector& vector, auto pods_of) {
    for (std::size_t i = 0; i < vector.columns.size(); ++i) {
      const std::int32_t column = vector.columns[i];
      if (column < 0 || vector.amounts[i] == 0) continue;
      std::array<TiledCapacity::LeafAmount, TiledCapacity::kTileLeaves> of_tile;
      std::size_t size = 0;
      const auto set = [&] { tiles_.Set(column, std::span(of_tile).first(size)); };
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
  add(workers, [](const LeafShare& share) { return share.pods; });
  add(leader, [](const LeafShare& share) { return Count{share.leaders}; });
  std::int32_t noted = -1;
  for (const LeafShare& share : shares) {
    const std::int32_t block = snapshot_->BlockOf(share.leaf);
    if (block != noted) NoteChange(block);
    noted = block;
  }
}

}  // namespace espalier
