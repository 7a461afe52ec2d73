// What is used on a flavor's leaves right now, apart from the immutable snapshot.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "host/model/resources.hpp"
#include "host/packing/block_stamps.hpp"
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
  // Copies the amounts. Nothing that was made from `other` is known to be true of the copy.
  FlavorState(const FlavorState& other);
  ~FlavorState() { Retire(); }
  FlavorState& operator=(const FlavorState&) = delete;

  // Returns a copy with the same stamps. It uses the memory of `spare`, a state of the same
  // snapshot that is retired, where there is one: then only the blocks in which the two differ are
  // copied.
  std::unique_ptr<FlavorState> Branch(std::unique_ptr<FlavorState> spare = nullptr) const;

  // Says that this state will not be changed or asked again.
  void Retire() { stamps_->Freeze(); }

  const FlavorSnapshot& snapshot() const { return *snapshot_; }

  // Names this object and no other, copies included, for the life of the process.
  std::uint64_t identity() const { return identity_; }

  // Returns the stamps of remaining(), by block of the snapshot.
  const BlockStamps& stamps() const { return *stamps_; }
  std::shared_ptr<const BlockStamps> SharedStamps() const { return stamps_; }

  // Returns the capacity without usage (R5.1), laid out as FlavorSnapshot::free(), from which it
  // differs where nodes have changed since; and its stamps.
  const PagedArray<Amount>& free() const { return *free_; }
  const std::shared_ptr<const BlockStamps>& free_stamps() const { return free_stamps_; }

  // free - usage of admitted TAS workloads (R5.1), laid out as FlavorSnapshot::free().
  const PagedArray<Amount>& remaining() const { return remaining_; }

  // Returns the usage on a leaf of one resource, by index into remaining(). Usage is no array of
  // its own: it is free - remaining. Only what does not fit int64 that way is held.
  Amount Usage(std::size_t at) const {
    if (clamped_usage_.empty()) return free()[at] - remaining_[at];
    const auto clamped = clamped_usage_.find(at);
    return clamped != clamped_usage_.end() ? clamped->second : free()[at] - remaining_[at];
  }

  // The same, as far as it can be, in the form that bulk counting reads.
  const TiledCapacity& tiles() const { return tiles_; }

  // Returns the bytes that a copy takes.
  std::int64_t Bytes() const;

  // Finds out which leaves are equal now; worth it after many changes. In a sparse state hardly two
  // are.
  void ClassifyLeaves();
  // Returns what it found, which is true of the blocks that have no stamp after classes_stamp();
  // null: nothing, or not asked.
  const std::shared_ptr<const LeafClasses>& classes() const { return classes_; }
  Stamp classes_stamp() const { return classes_stamp_; }

  // Returns whether no leaf of this state has gained capacity since the change of that stamp:
  // counts made then are upper bounds.
  bool OnlyShrankSince(Stamp stamp) const { return grown_at_ <= stamp; }

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
  // Adds to the capacity of leaves, and takes from it. Resources no node has are ignored. Only
  // where IsExact(), also of the amounts.
  void AddCapacity(std::span<const LeafChange> changes) { ChangeCapacity(changes, 1); }
  void RemoveCapacity(std::span<const LeafChange> changes) { ChangeCapacity(changes, -1); }

  // Returns whether all amounts of all times have been smaller than kExact. Then no sum of them has
  // saturated, and it makes no difference in which order they came and went.
  bool IsExact() const;
  static constexpr Amount kExact = Amount{1} << 60;

  // Adds the pods of a gang; of the two vectors, bound to the snapshot, pod slots are part.
  void Book(std::span<const LeafShare> shares, const RequestVector& workers,
            const RequestVector& leader);

 private:
  std::int64_t SmallBytes() const;
  void ChangeCapacity(std::span<const LeafChange> changes, Amount sign);
  // Usage becomes Combine(usage, amount), which adds or subtracts.
  // The answer is what remains; `tiles_` are not told.
  template <Amount (*Combine)(Amount, Amount)>
  Amount ChangeAmount(std::int32_t column, LeafId leaf, Amount amount);
  template <Amount (*Combine)(Amount, Amount)>
  void ChangeAll(std::span<const LeafChange> changes);
  void Bind(const Resources& usage);
  void NoteMagnitude(std::int32_t column, Amount amount);
  void CopyAmounts(const FlavorState& original);
  void CopyFree(const FlavorState& original);
  std::optional<std::vector<std::int32_t>> WorthCopying(const BlockStamps& from,
                                                        const BlockStamps& to) const;
  void CopyBlock(const PagedArray<Amount>& from, std::int32_t block, PagedArray<Amount>& to) const;

  std::shared_ptr<const FlavorSnapshot> snapshot_;
  std::uint64_t identity_;
  std::shared_ptr<BlockStamps> stamps_;
  std::shared_ptr<PagedArray<Amount>> own_free_;    // null until a node changes
  std::shared_ptr<const PagedArray<Amount>> free_;  // the snapshot's or another state's until then
  std::shared_ptr<const BlockStamps> free_stamps_;
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
};

}  // namespace espalier
