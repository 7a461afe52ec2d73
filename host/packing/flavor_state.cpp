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

}  // namespace

FlavorState::FlavorState(std::shared_ptr<const FlavorSnapshot> snapshot)
    : snapshot_(std::move(snapshot)),
      identity_(NextIdentity()),
      usage_(snapshot_->free().size(), 0),
      remaining_(snapshot_->free()),
      last_change_(static_cast<std::size_t>(snapshot_->block_count()), 0),
      magnitude_(snapshot_->resources().size(), 0) {
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
      last_change_(other.last_change_.size(), 0),
      magnitude_(other.magnitude_) {}

void FlavorState::SetUsage(std::int32_t column, LeafId leaf, Amount usage) {
  const auto at = static_cast<std::size_t>(column * snapshot_->stride() + leaf.value);
  usage_[at] = usage;
  remaining_[at] = SaturatingSubtract(snapshot_->free()[at], usage);
  Amount& magnitude = magnitude_[static_cast<std::size_t>(column)];
  magnitude = std::max(magnitude, MagnitudeOf(remaining_[at]));
}

void FlavorState::NoteChange(LeafId leaf) {
  const std::int32_t block = snapshot_->BlockOf(leaf);
  last_change_[static_cast<std::size_t>(block)] = log_.size();
  log_.push_back(block);
}

void FlavorState::Add(LeafId leaf, const Resources& usage) {
  for (const auto& [name, amount] : usage) {
    const std::int32_t column = snapshot_->FindResource(name);
    if (column < 0) continue;
    SetUsage(column, leaf, SaturatingAdd(Usage(column, leaf), amount));
  }
  NoteChange(leaf);
}

void FlavorState::Remove(LeafId leaf, const Resources& usage) {
  for (const auto& [name, amount] : usage) {
    const std::int32_t column = snapshot_->FindResource(name);
    if (column < 0) continue;
    SetUsage(column, leaf, SaturatingSubtract(Usage(column, leaf), amount));
  }
  NoteChange(leaf);
}

void FlavorState::AddPods(LeafId leaf, const RequestVector& requests, std::int64_t count) {
  for (std::size_t i = 0; i < requests.columns.size(); ++i) {
    const std::int32_t column = requests.columns[i];
    if (column < 0) continue;
    SetUsage(column, leaf,
             SaturatingAdd(Usage(column, leaf), SaturatingMultiply(requests.amounts[i], count)));
  }
  NoteChange(leaf);
}

}  // namespace espalier
