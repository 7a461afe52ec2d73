// Counts the leaves of one shape on one state: in bulk where the numbers allow it, one by one
// otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fallback_cpu/bulk_counts.hpp"
#include "host/engine/backend.hpp"
#include "kernels/decisions/leaf_counts.hpp"

namespace espalier {

class LeafCounter {
 public:
  // Views into the job's state and shape, which must outlive this object. The job's assumed usage
  // is not looked at.
  explicit LeafCounter(const PlacementJob& job);
  LeafCounter(const LeafCounter&) = delete;
  LeafCounter& operator=(const LeafCounter&) = delete;

  // False when the state's numbers have left the ranges this object was made for.
  bool IsValid() const { return state_.range_version() == range_version_; }

  // Usage assumed from now on, in place of what was assumed before.
  void Assume(const AssumedLeaves& assumed);

  // Whether SumBlocks may be used: domains hold pods and nothing else, no sum can pass 31 bits.
  bool sums() const { return sums_; }

  // Writes the counts of leaves [range.begin, range.end) under their domain ids.
  void Count(DomainRange range, const CountsView& out) const;
  // sums[i] = pods of blocks[i] of the snapshot. Assumed usage is ignored.
  void SumBlocks(const Blocks& blocks, StoredCount* sums) const;
  // Sets what limits the leaves of some tiles, each named once.
  void CountLimited(const Blocks& tiles, const LeafLimits& limits) const;

  // The same by classes of the state's leaves, for all blocks at once; assumed usage is ignored.
  // False, and nothing done, where leaves of a class may differ to the shape. SumClasses is only
  // for where sums().
  bool SumClasses(const LeafClasses& classes, StoredCount* sums) const;
  // `limits` becomes what limits the leaves of each class; `sums` as in LeafLimits, of all leaves.
  bool LimitClasses(const LeafClasses& classes, ClassTable& limits,
                    std::span<std::int64_t> sums) const;

 private:
  bool BindBulk();
  // Adds a request to a vector of bulk requests; false when it is out of range.
  bool BindEntry(std::int32_t column, Amount request, Amount leader, BulkRequest::Vector& vector);
  bool BindSums() const;
  void LimitTile(std::int32_t tile, const LeafLimits& limits) const;
  // The request against a leaf of each class, node filter aside; none where it tells leaves of a
  // class apart.
  std::optional<BulkRequest> OfClasses(const LeafClasses& classes) const;
  // The leaves of the range with assumed usage, which are always counted one by one.
  template <class Visit>
  void ForAssumed(DomainRange range, const Visit& visit) const;

  const FlavorState& state_;
  const Shape& shape_;
  bool simulate_empty_;
  std::uint64_t range_version_;
  TreeView tree_;
  std::int32_t first_leaf_ = 0;  // domain id of leaf 0
  std::vector<std::int32_t> assumed_leaves_;
  std::vector<Amount> assumed_amounts_;
  LeafInput input_;
  bool bulk_ = false;
  bool sums_ = false;
  BulkRequest request_;
  BlockLayout layout_;
};

}  // namespace espalier
