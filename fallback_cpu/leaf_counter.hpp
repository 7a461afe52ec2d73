// Counts the leaves of one shape on one state: in bulk where the numbers allow it, one by one
// otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fallback_cpu/simd_implementation.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/leaf_input.hpp"
#include "kernels/decisions/leaf_counts.hpp"

namespace espalier {

class LeafCounter {
 public:
  // Keeps views into the job's state and shape, which must outlive this object. Ignores the job's
  // assumed usage.
  explicit LeafCounter(const PlacementJob& job);
  LeafCounter(const LeafCounter&) = delete;
  LeafCounter& operator=(const LeafCounter&) = delete;

  // Returns whether the counter is valid for a job of the same shape. It is not when the job has
  // another state or filter, or the state's numbers have left the ranges that this object was made
  // for.
  bool IsValid(const PlacementJob& job) const {
    return job.state->identity() == identity_ && job.state->range_version() == range_version_ &&
           filter_ == job.filter;
  }

  // Sets the assumed usage to that of the job.
  void Assume(const PlacementJob& job);

  // Returns whether SumGroups may be used: domains hold only pods, and no sum can pass 31 bits.
  bool sums() const { return sums_; }

  // Writes the counts of leaves [range.begin, range.end) under their domain ids.
  void Count(DomainRange range, const CountsView& out) const;
  // Writes to sums[i] the pods of groups[i] of the snapshot. Ignores assumed usage.
  void SumGroups(const LeafGroups& groups, StoredCount* sums) const;
  // Writes to sums[i] what the leaves of groups[i] hold together, whose counts lie in `leaves`.
  // Returns false, and does nothing, where that must be done one by one.
  bool SumChildren(const LeafGroups& groups, const CountsView& leaves, ChildSums* sums) const;
  // Writes the same by classes of the state's leaves, for all groups at once; ignores assumed
  // usage. Returns false, and does nothing, where leaves of a class may differ to the shape.
  // SumClasses requires sums().
  bool SumClasses(const LeafClasses& classes, StoredCount* sums) const;
  // Writes to reasons[i] which worker resource has no room for a pod on the leaf i behind the first
  // of `tiles`, or -1; ignores the filter and assumed usage. Returns false, and does nothing, where
  // that must be told from amounts.
  bool FindReasons(DomainRange tiles, std::int16_t* reasons) const;
  // Adds to `excluded`, by worker resource, the leaves without room for a pod. Returns false, and
  // does nothing, where leaves of a class may differ to the shape or its filter.
  bool CountExcluded(const LeafClasses& classes, std::span<std::int64_t> excluded) const;

 private:
  bool BindBulk();
  // Adds a request to a vector of bulk requests; false when it is out of range.
  bool BindEntry(std::int32_t column, Amount request, Amount leader, BulkRequest::Vector& vector);
  // Returns whether the pods of all leaves together fit 31 bits, without assumed usage.
  bool IsSmall() const;

  const FlavorState& state_;
  const PodShape& shape_;
  std::shared_ptr<const NodeFilter> filter_;
  bool simulate_empty_;
  std::uint64_t identity_;  // of the state
  std::uint64_t range_version_;
  TreeView tree_;
  std::int32_t first_leaf_ = 0;  // domain id of leaf 0
  FlatAssumed assumed_;
  LeafInput input_;
  bool bulk_ = false;
  double slice_inverse_ = 0;  // the reciprocal of the slice size, in bulk
  bool small_ = false;        // no sum of counts that were made in bulk can pass 31 bits
  bool sums_ = false;
  BulkRequest request_;
  GroupLayout layout_;
};

// Counts as Backend::CountDomains does, in bulk where the numbers allow it.
void CountAllDomains(const PlacementJob& job, CountsStorage& counts);

}  // namespace espalier
