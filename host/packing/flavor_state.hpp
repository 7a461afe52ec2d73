// The current usage of a flavor's leaves, apart from the immutable snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/model/resources.hpp"
#include "host/packing/flavor_snapshot.hpp"
#include "host/packing/group_stamps.hpp"
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

// Usage on one leaf, less `instead_of` where that is given; the amounts are borrowed.
struct LeafChange {
  LeafId leaf;
  const Resources* usage = nullptr;
  const Resources* instead_of = nullptr;
};

// An amount of one resource of a snapshot on one of its leaves.
struct LeafAmount {
  std::int32_t leaf = 0;
  std::int32_t column = 0;
  Amount amount = 0;
};

// Capacity that a leaf gains or loses; the amounts are borrowed.
struct CapacityChange {
  LeafId leaf;
  const Resources* amounts = nullptr;
  Amount sign = 1;  // or -1
};

class FlavorState {
 public:
  // Starts without usage. The memory of the state stays charged to `budget`; once that is stopped,
  // the state must not be used.
  explicit FlavorState(std::shared_ptr<const FlavorSnapshot> snapshot,
                       WorkBudget& budget = WorkBudget::Unlimited());
  // Copies the amounts. Nothing that was cached for `other` is current for the copy.
  FlavorState(const FlavorState& other);
  ~FlavorState() { Retire(); }
  FlavorState& operator=(const FlavorState&) = delete;

  // Returns a copy with the same stamps. Reuses the memory of `spare`, a retired state of the same
  // snapshot, if there is one; then only the groups in which the two differ are copied.
  std::unique_ptr<FlavorState> Branch(std::unique_ptr<FlavorState> spare = nullptr) const;

  // Marks this state as one that will be neither changed nor read again.
  void Retire() { stamps_->Freeze(); }

  const FlavorSnapshot& snapshot() const { return *snapshot_; }

  // Returns a number that identifies this object, apart from any copy, for the life of the process.
  std::uint64_t identity() const { return identity_; }

  // Returns the identity of the state that this one was made from as a branch, 0 for none, and the
  // latest stamp there at that time. All stamps up to that one are those of this state too.
  std::uint64_t parent() const { return parent_; }
  Stamp branched_at() const { return branched_at_; }

  // Returns the stamps of remaining(), by group of the snapshot.
  const GroupStamps& stamps() const { return *stamps_; }
  std::shared_ptr<const GroupStamps> SharedStamps() const { return stamps_; }

  // Returns the capacity without usage (R5.1), laid out as FlavorSnapshot::free(), from which it
  // differs where nodes have changed since; and its stamps.
  const PagedArray<Amount>& free() const { return *free_; }
  const std::shared_ptr<const GroupStamps>& free_stamps() const { return free_stamps_; }

  // Returns free - usage of admitted TAS workloads (R5.1), laid out as FlavorSnapshot::free().
  const PagedArray<Amount>& remaining() const { return remaining_; }

  // Returns the usage on a leaf of one resource, by index into remaining(). Usage is no array of
  // its own: it is free - remaining. Only what does not fit int64 that way is held.
  Amount Usage(std::size_t at) const {
    if (clamped_usage_.empty()) return free()[at] - remaining_[at];
    const auto clamped = clamped_usage_.find(at);
    return clamped != clamped_usage_.end() ? clamped->second : free()[at] - remaining_[at];
  }

  // Returns the same amounts, as far as floats can hold them, in the form that bulk counting reads.
  const TiledCapacity& tiles() const { return tiles_; }

  // Returns the bytes that a copy takes.
  std::int64_t Bytes() const;

  // Finds the classes of equal leaves; worth it after many changes. In a sparse state hardly two
  // leaves are equal.
  void ClassifyLeaves();
  // Returns the classes that ClassifyLeaves found, which are valid for the groups that have no
  // stamp after classes_stamp(); null: none were found, or it was not called.
  const std::shared_ptr<const LeafClasses>& classes() const { return classes_; }
  Stamp classes_stamp() const { return classes_stamp_; }

  // Returns whether no leaf of this state has gained capacity since the change with that stamp, so
  // that counts made then are upper bounds.
  bool OnlyShrankSince(Stamp stamp) const { return grown_at_ <= stamp; }

  // Returns the largest magnitude any amount of a column has had, free or remaining.
  Amount Magnitude(std::int32_t column) const {
    return magnitude_[static_cast<std::size_t>(column)];
  }

  // Returns a number that changes whenever the result of Magnitude or tiles().Exact may change.
  std::uint64_t range_version() const { return range_version_; }

  // Adds usage to leaves, one after the other. Resources that no node has are ignored, as they read
  // as 0 either way. One call for many leaves is much faster than many calls. Differences require
  // IsExact(), also of the amounts.
  void Add(std::span<const LeafChange> changes);
  void Remove(std::span<const LeafChange> changes);
  // Removes amounts whose resources and leaves are known by number; soonest where those of a column
  // on neighbouring leaves follow each other.
  void Remove(std::span<const LeafAmount> amounts);
  void Add(LeafId leaf, const Resources& usage) { Add(std::array{LeafChange{leaf, &usage}}); }
  void Remove(LeafId leaf, const Resources& usage) { Remove(std::array{LeafChange{leaf, &usage}}); }
  // Adds to the capacity of leaves, or subtracts from it. Resources that no node has are ignored.
  // Requires IsExact(), also of the amounts.
  void ChangeCapacity(std::span<const CapacityChange> changes);

  // Returns whether all amounts have always been smaller than kExact, so that no sum of them has
  // saturated and the order of changes makes no difference.
  bool IsExact() const;
  static constexpr Amount kExact = Amount{1} << 60;

  // Puts other nodes on leaves, in place of those of the snapshot so far. `snapshot` is that
  // snapshot With the nodes, `changed` the leaves on which they differ. The amounts stay.
  void SetNodes(std::shared_ptr<const FlavorSnapshot> snapshot, std::span<const LeafId> changed);
  // Returns a state of the same amounts on an edited tree. New leaves are vacant and have no
  // amounts. Must not be used when amounts are sparse.
  std::unique_ptr<FlavorState> On(const FlavorTree::Edited& edited, WorkBudget& budget) const;

  // Adds the usage of a gang's pods. The shape must be one of the snapshot's.
  void Book(std::span<const LeafShare> shares, const PodShape& shape);

 private:
  FlavorState(std::shared_ptr<const FlavorSnapshot> snapshot, PagedArray<Amount> free,
              PagedArray<Amount> remaining, const FlavorState& before, WorkBudget& budget);
  std::int64_t SmallBytes() const;
  void MoveClasses(const FlavorState& before, std::span<const LeafRun> runs);
  // Sets usage to Combine(usage, amount), which adds or subtracts. Returns what remains; does not
  // update `tiles_`.
  template <Amount (*Combine)(Amount, Amount)>
  Amount ChangeAmount(std::int32_t column, LeafId leaf, Amount amount);
  template <Amount (*Combine)(Amount, Amount)>
  void ChangeAll(std::span<const LeafChange> changes);
  void Bind(const Resources& usage);
  void BindDifference(const Resources& usage, const Resources& instead_of);
  void SetTile(std::int32_t column, std::span<const TiledCapacity::LeafAmount> leaves) {
    if (tiles_.Set(column, leaves)) ++range_version_;
  }
  void NoteMagnitude(std::int32_t column, Amount amount);
  void CopyAmounts(const FlavorState& original);
  void CopyFree(const FlavorState& original);
  std::optional<std::vector<std::int32_t>> WorthCopying(const GroupStamps& from,
                                                        const GroupStamps& to) const;
  void CopyGroup(const PagedArray<Amount>& from, std::int32_t group, PagedArray<Amount>& to) const;

  std::shared_ptr<const FlavorSnapshot> snapshot_;
  std::uint64_t identity_;
  std::uint64_t parent_ = 0;
  Stamp branched_at_ = 0;
  std::shared_ptr<GroupStamps> stamps_;
  std::shared_ptr<PagedArray<Amount>> own_free_;    // null until a node changes
  std::shared_ptr<const PagedArray<Amount>> free_;  // the snapshot's or another state's until then
  std::shared_ptr<const GroupStamps> free_stamps_;
  PagedArray<Amount> remaining_;
  std::unordered_map<std::size_t, Amount> clamped_usage_;  // by index into remaining_
  TiledCapacity tiles_;
  std::shared_ptr<const LeafClasses> classes_;
  Stamp classes_stamp_ = 0;
  Stamp changing_ = 0;             // of the change that is being made
  Stamp grown_at_ = 0;             // of the last change by which a leaf gained capacity
  std::vector<Amount> magnitude_;  // by column
  std::uint64_t range_version_ = 0;

  struct BoundAmount {
    std::int32_t column;
    Amount amount;
  };
  std::vector<BoundAmount> bound_;  // the usage that is being added or removed
  struct BoundKey {
    std::int32_t column;
    std::size_t entry;
  };
  SharedKeys bound_list_;             // the resource names that were bound last, and their columns,
  std::vector<BoundKey> bound_keys_;  // where they have one
};

}  // namespace espalier
