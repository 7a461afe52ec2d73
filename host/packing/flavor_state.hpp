// What is used on a flavor's leaves right now, apart from the immutable snapshot.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "host/model/resources.hpp"
#include "host/packing/flavor_snapshot.hpp"

namespace espalier {

class FlavorState {
 public:
  explicit FlavorState(std::shared_ptr<const FlavorSnapshot> snapshot);
  FlavorState(const FlavorState& other);
  FlavorState& operator=(const FlavorState&) = delete;

  const FlavorSnapshot& snapshot() const { return *snapshot_; }

  // Names this object and no other, copies included, for the life of the process.
  std::uint64_t identity() const { return identity_; }

  // free - usage of admitted TAS workloads (R5.1), laid out as FlavorSnapshot::free().
  const std::vector<Amount>& remaining() const { return remaining_; }

  // Blocks of leaves whose usage changed, oldest first. Counts made when the log had n entries are
  // current again once the blocks behind n are counted anew; an entry is worth it only where
  // IsLastChange, because a later entry names the same block otherwise.
  std::span<const std::int32_t> changed_blocks() const { return log_; }
  bool IsLastChange(std::size_t entry) const {
    return last_change_[static_cast<std::size_t>(log_[entry])] == entry;
  }

  // The largest magnitude any amount of a column has had, free or remaining.
  Amount Magnitude(std::int32_t column) const {
    return magnitude_[static_cast<std::size_t>(column)];
  }

  // Adds usage to a leaf; resources no node has are ignored: they read as 0 either way.
  void Add(LeafId leaf, const Resources& usage);
  void Remove(LeafId leaf, const Resources& usage);
  // Adds `count` pods of a bound vector, whose pod slot is part of it.
  void AddPods(LeafId leaf, const RequestVector& requests, std::int64_t count);

 private:
  Amount Usage(std::int32_t column, LeafId leaf) const {
    return usage_[static_cast<std::size_t>(column * snapshot_->stride() + leaf.value)];
  }
  void SetUsage(std::int32_t column, LeafId leaf, Amount usage);
  void NoteChange(LeafId leaf);

  std::shared_ptr<const FlavorSnapshot> snapshot_;
  std::uint64_t identity_;
  std::vector<Amount> usage_;
  std::vector<Amount> remaining_;
  std::vector<std::int32_t> log_;
  std::vector<std::size_t> last_change_;  // by block: its last entry in the log
  std::vector<Amount> magnitude_;         // by column
};

}  // namespace espalier
