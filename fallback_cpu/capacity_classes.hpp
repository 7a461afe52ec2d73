// Classifies the leaves of a state by what remains on them and keeps the classes up to date.
// Failure texts say how many leaves lack which resource: that is found for each class in place of
// each leaf, and for each change once in place of once a shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fallback_cpu/capacity_version.hpp"
#include "fallback_cpu/simd_implementation.hpp"
#include "host/engine/backend.hpp"
#include "host/packing/name_index.hpp"
#include "host/packing/node_filter.hpp"

namespace espalier {

// Leaves are of one class when the same amount of every resource remains on them. A class stays
// when it has lost its last leaf, until there are many such.
class CapacityClasses {
 public:
  // Number of leaves by class, of those that a filter admits. Valid as long as the object that gave
  // it; keeps the numbers of a filter that is no longer among those it counts.
  using Leaves = std::shared_ptr<const std::vector<std::int32_t>>;

  // Returns whether the leaves of a state can be classified: not where there are hundreds of
  // resources, most of which most leaves lack.
  static bool CanClassify(const FlavorState& state);

  // Returns the most bytes that the classes of a state may come to hold.
  static std::size_t MostBytes(const FlavorState& state);

  // Resets the classes; keeps the allocated memory.
  void Forget();
  // Begins with the classes of the state that the job's is a branch of, if it has all their stamps.
  void BeginWith(const CapacityClasses& of_parent, const PlacementJob& job);

  // Brings the classes up to date with the capacity that a job looks at, and returns how many
  // leaves each has, of those that the job's filter admits. Earlier calls were for the same state,
  // or for one of which it is a branch or that was another branch. While the state does not change,
  // later calls change nothing that others read. Returns null where there are too many classes for
  // them to be of use, and to the first callers: looking at each leaf a few times is sooner than
  // classifying all of them.
  Leaves LeavesOf(const PlacementJob& job);

  std::int32_t count() const { return static_cast<std::int32_t>(leaves_.size()); }
  // Returns what remains on a leaf of each class of a tile. The last tile may be a part; its memory
  // is whole.
  static constexpr std::int32_t kTile = SimdImplementation::kReadAhead;
  CapacityView RemainingIn(std::int32_t tile) const {
    return {amounts_.data() + static_cast<std::size_t>(tile) * kTile * columns_, kTile};
  }
  // Returns a number that is another one when classes have got other numbers.
  std::uint64_t numbering() const { return numbering_; }

 private:
  struct OfFilter {
    std::shared_ptr<const NodeFilter> filter;
    CapacityVersion counted;
    std::vector<std::int32_t> class_of_leaf;  // as it was counted; -1: not among `leaves`
    std::vector<std::int32_t> leaves;
  };

  void Refresh(const PlacementJob& job);
  void GiveUp();
  void Clear(const FlavorSnapshot& snapshot);
  // Classifies leaves; ends sooner where `most` classes are passed.
  void Classify(const PlacementJob& job, DomainRange leaves, std::int32_t most);
  Amount* FirstAmountOf(std::int32_t of_class);
  bool Equals(std::int32_t of_class, const Amount* row);
  std::int32_t Find(const Amount* row);
  void Count(const PlacementJob& job, OfFilter& of_filter);

  std::int32_t asked_ = 0;  // times, without an answer
  bool useless_ = false;    // there were too many classes
  std::size_t columns_ = 0;
  bool known_ = false;  // not while leaves are classified, nor after a failure in between
  CapacityVersion counted_;
  std::uint64_t numbering_ = 0;
  std::vector<std::int32_t> class_of_leaf_;
  std::vector<Amount> amounts_;       // [(tile * columns + column) * kTile + class % kTile]
  std::vector<std::int32_t> leaves_;  // by class
  std::int32_t without_leaves_ = 0;   // classes
  NameIndex index_;                   // of classes, by their amounts
  std::vector<std::shared_ptr<OfFilter>> filters_;  // most recently used first
  std::vector<std::int32_t> stale_;                 // groups
  std::vector<Amount> rows_;                        // of the leaves that are looked at
};

}  // namespace espalier
