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

Amount MagnitudeOf(Amount amount) {
  return amount == std::numeric_limits<Amount>::min() ? std::numeric_limits<Amount>::max()
                                                      : std::abs(amount);
}

// A log that so many states have written is not handed on.
constexpr std::size_t kMaxWriters = 64;

}  // namespace

FlavorState::FlavorState(std::shared_ptr<const FlavorSnapshot> snapshot)
    : snapshot_(std::move(snapshot)),
      identity_(NextIdentity()),
      usage_(snapshot_->free().size(), 0),
      remaining_(snapshot_->free()),
      tiles_(remaining_, snapshot_->stride(), snapshot_->leaf_count(),
             snapshot_->resources().size()),
      last_change_(static_cast<std::size_t>(snapshot_->block_count()), -1),
      magnitude_(snapshot_->resources().size(), 0) {
  log_->writers.push_back({identity_});
  const auto stride = static_cast<std::size_t>(snapshot_->stride());
  for (std::size_t column = 0; column < magnitude_.size(); ++column) {
    for (std::size_t i = column * stride; i < (column + 1) * stride; ++i) {
      magnitude_[column] = std::max(magnitude_[column], MagnitudeOf(remaining_[i]));
    }
  }
}

FlavorState::FlavorState(const FlavorState& other)
    : snapshot_(other.snapshot_),
      identity_(NextIdentity()),
      usage_(other.usage_),
      remaining_(other.remaining_),
      tiles_(other.tiles_),
      last_change_(other.last_change_.size(), -1),
      magnitude_(other.magnitude_),
      range_version_(other.range_version_) {
  log_->writers.push_back({identity_});
}

void FlavorState::ContinueLogOf(const FlavorState& original) {
  const ChangeLog& before = *original.log_;
  // Copying it must stay cheap beside copying the amounts.
  if (before.blocks.size() > remaining_.size() || before.writers.size() >= kMaxWriters) return;
  log_->blocks = before.blocks;
  log_->writers = before.writers;
  log_->writers.back().end = before.blocks.size();
  log_->writers.push_back({identity_});
  last_change_ = original.last_change_;
  grown_at_ = original.grown_at_;
}

void FlavorState::SetUsage(std::int32_t column, LeafId leaf, Amount usage) {
  const auto at = static_cast<std::size_t>(column * snapshot_->stride() + leaf.value);
  usage_[at] = usage;
  const Amount before = remaining_[at];
  remaining_[at] = SaturatingSubtract(snapshot_->free()[at], usage);
  if (remaining_[at] > before) grown_at_ = log_->blocks.size() + 1;
  tiles_.Set(column, leaf.value, remaining_[at]);
  Amount& magnitude = magnitude_[static_cast<std::size_t>(column)];
  if (MagnitudeOf(remaining_[at]) > magnitude) {
    magnitude = MagnitudeOf(remaining_[at]);
    ++range_version_;
  }
}

void FlavorState::NoteChange(std::int32_t block) {
  last_change_[static_cast<std::size_t>(block)] = static_cast<std::int32_t>(log_->blocks.size());
  log_->blocks.push_back(block);
}

void FlavorState::Add(LeafId leaf, const Resources& usage) {
  for (const auto& [name, amount] : usage) {
    const std::int32_t column = snapshot_->FindResource(name);
    if (column < 0) continue;
    SetUsage(column, leaf, SaturatingAdd(Usage(column, leaf), amount));
  }
  NoteChange(snapshot_->BlockOf(leaf));
}

void FlavorState::Remove(LeafId leaf, const Resources& usage) {
  for (const auto& [name, amount] : usage) {
    const std::int32_t column = snapshot_->FindResource(name);
    if (column < 0) continue;
    SetUsage(column, leaf, SaturatingSubtract(Usage(column, leaf), amount));
  }
  NoteChange(snapshot_->BlockOf(leaf));
}

void FlavorState::Book(std::span<const LeafShare> shares, const RequestVector& workers,
                       const RequestVector& leader) {
  // By column, so that neighbouring leaves meet in the cache.
  const auto add = [&](const RequestVector& vector, auto pods_of) {
    for (std::size_t i = 0; i < vector.columns.size(); ++i) {
      const std::int32_t column = vector.columns[i];
      if (column < 0 || vector.amounts[i] == 0) continue;
      for (const LeafShare& share : shares) {
        if (pods_of(share) == 0) continue;
        const Amount added = SaturatingMultiply(vector.amounts[i], pods_of(share));
        SetUsage(column, share.leaf, SaturatingAdd(Usage(column, share.leaf), added));
      }
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
