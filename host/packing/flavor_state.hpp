// What is used on a flavor's leaves right now, apart from the immutable snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/model/resources.hpp"
#include "host/packing/change_log.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/leaf_classes.hpp"
#include "host/packing/paged_array.hpp"
#include "host/packing/tiled_capacity.hpp"

namespace espalier {

// Pods of a gang on one leaf.
struct LeafShare {
  LeafId leaf;
  std::int32_t leaders = 0;
  Count pods = 0;
  bool operator==(const LeafShare&) const = default;
};

// Usage on one leaf; the amounts are somebody else's.
struct LeafChange {
  LeafId leaf;
  const Resources* usage = nullptr;
};

class FlavorState {
 public:
  // What the state takes stays charged to `budget`; once that is stopped, the state is of no use.
  explicit FlavorState(std::shared_ptr<const FlavorSnapshot> snapshot,
                       WorkBudget& budget = WorkBudget::Unlimited());
  FlavorState(const FlavorState& other);  // with a log of its own
  ~FlavorState() { log_->ended.store(true, std::memory_order_release); }
  FlavorState& operator=(const FlavorState&) = delete;

  const FlavorSnapshot& snapshot() const { return *snapshot_; }

  // Names this object and no other, copies included, for the life of the process.
  std::uint64_t identity() const { return identity_; }

  // Goes on with the log of `original`, of which this is an unchanged copy that nobody has seen
  // yet. False, and nothing done, where that log has become longer than it is worth.
  bool ContinueLogOf(const FlavorState& original);
  std::shared_ptr<const ChangeLog> log() const { return log_; }

  // free - usage of admitted TAS workloads (R5.1), laid out as FlavorSnapshot::free().
  const PagedArray<Amount>& remaining() const { return remaining_; }

  // The same, as far as it can be, in the form that bulk counting reads.
  const TiledCapacity& tiles() const { return tiles_; }

  // Returns the bytes that a copy takes.
  std::int64_t Bytes() const;

  // Finds out which leaves are equal now; worth it after many changes. In a sparse state hardly two
  // are.
  void ClassifyLeaves();
  // What it found, when the log had classes_position() entries; null: nothing, or not asked. A copy
  // has what is still true of it.
  const std::shared_ptr<const LeafClasses>& classes() const { return classes_; }
  std::size_t classes_position() const { return classes_position_; }

  // Blocks of leaves whose usage changed, oldest first. Counts made when the log had n entries are
  // current again once the blocks behind n are counted anew; an entry is worth it only where
  // IsLastChange, because a later entry names the same block otherwise.
  std::span<const std::int32_t> changed_blocks() const { return log_->blocks; }
  bool IsLastChange(std::size_t entry) const {
    return last_changes()[static_cast<std::size_t>(log_->blocks[entry])] ==
           static_cast<std::int32_t>(entry);
  }
  // By block: its last entry in the log, -1 when it has none.
  std::span<const std::int32_t> last_changes() const { return last_change_; }

  // Whether no leaf has gained capacity since the log had `position` entries: counts made then are
  // upper bounds.
  bool OnlyShrankSince(std::size_t position) const { return grown_at_ <= position; }

  // The largest magnitude any amount of a column has had, free or remaining.
  Amount Magnitude(std::int32_t column) const {
    return magnitude_[static_cast<std::size_t>(column)];
  }

  // Changes whenever Magnitude or tiles().Exact may answer anew.
  std::uint64_t range_version() const { return range_version_; }

  // Adds usage to leaves, one after the other; resources no node has are ignored: they read as 0
  // either way. Many leaves at once are much sooner done than one by one.
  void Add(std::span<const LeafChange> changes);
  void Remove(std::span<const LeafChange> changes);
  void Add(LeafId leaf, const Resources& usage) { Add(std::array{LeafChange{leaf, &usage}}); }
  void Remove(LeafId leaf, const Resources& usage) { Remove(std::array{LeafChange{leaf, &usage}}); }
  // Adds the pods of a gang; of the two vectors, bound to the snapshot, pod slots are part. One
  // entry in the log per run of leaves of one block.
  void Book(std::span<const LeafShare> shares, const RequestVector& workers,
            const RequestVector& leader);

 private:
  std::int64_t SmallBytes() const;
  // Usage is no array of its own: it is free - remaining. Only what does not fit int64 that way is
  // held, in clamped_usage_.
  Amount Usage(std::size_t at) const;
  // Usage becomes Combine(usage, amount), which adds or subtracts.
  // The answer is what remains; `tiles_` are not told.
  template <Amount (*Combine)(Amount, Amount)>
  Amount ChangeAmount(std::int32_t column, LeafId leaf, Amount amount);
  template <Amount (*Combine)(Amount, Amount)>
  void ChangeAll(std::span<const LeafChange> changes);
  void Bind(const Resources& usage);
  void NoteChange(std::int32_t block);

  std::shared_ptr<const FlavorSnapshot> snapshot_;
  std::uint64_t identity_;
  std::shared_ptr<ChangeLog> log_ = std::make_shared<ChangeLog>();
  PagedArray<Amount> remaining_;
  std::unordered_map<std::size_t, Amount> clamped_usage_;  // by index into remaining_
  TiledCapacity tiles_;
  std::shared_ptr<const LeafClasses> classes_;
  std::size_t classes_position_ = 0;
  std::vector<std::int32_t> last_change_;
  std::size_t grown_at_ = 0;       // entries in the log after a leaf last gained capacity
  std::vector<Amount> magnitude_;  // by column
  std::uint64_t range_version_ = 0;

  struct BoundAmount {
    std::int32_t column;
    Amount amount;
  };
  std::vector<BoundAmount> bound_;  // the usage that is being added or removed
};

}  // namespace espalier
