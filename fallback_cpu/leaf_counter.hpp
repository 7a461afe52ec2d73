// Counts the leaves of one job: in bulk where the numbers allow it, one by one otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "fallback_cpu/bulk_counts.hpp"
#include "host/engine/backend.hpp"
#include "kernels/decisions/leaf_counts.hpp"

namespace espalier {

class LeafCounter {
 public:
  // Views into the job, which must outlive this object.
  explicit LeafCounter(const PlacementJob& job);
  LeafCounter(const LeafCounter&) = delete;
  LeafCounter& operator=(const LeafCounter&) = delete;

  // Writes the counts of leaves [range.begin, range.end) under their domain ids.
  void Count(DomainRange range, const CountsView& out) const;
  // Adds to limited_by[i] the leaves of the range that worker resource i leaves without room
  // (R18.7); returns the leaves outside the replacement domain.
  std::int64_t CountLimited(DomainRange range, std::int32_t* limited_by) const;

 private:
  bool BindBulk();
  // The leaves of the range with assumed usage, which are always counted one by one.
  template <class Visit>
  void ForAssumed(DomainRange range, const Visit& visit) const;

  const PlacementJob& job_;
  TreeView tree_;
  std::int32_t first_leaf_ = 0;  // domain id of leaf 0
  std::vector<std::int32_t> assumed_leaves_;
  std::vector<Amount> assumed_amounts_;
  LeafInput input_;
  bool bulk_ = false;
  BulkRequest request_;
};

}  // namespace espalier
