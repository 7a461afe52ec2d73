// Finds leaf by leaf which worker resource has no room for a pod, and keeps for a shape how many
// leaves lack which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fallback_cpu/branch_cache.hpp"
#include "fallback_cpu/capacity_version.hpp"
#include "fallback_cpu/leaf_counter.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/leaf_input.hpp"
#include "host/packing/node_filter.hpp"

namespace espalier {

// Adds times[i], or 1 where that is null, for the first `count` reasons; those below 0 are none.
void AddByReason(const std::vector<std::int16_t>& reasons, const std::int32_t* times,
                 std::size_t count, std::span<std::int64_t> excluded);

// Finds for the leaves of a job's state which worker resource has no room for a pod.
class LeafReasons {
 public:
  // Keeps views into the job's state and shape, which must outlive this object. Ignores the job's
  // assumed usage.
  explicit LeafReasons(const PlacementJob& job) : input_(MakeLeafInput(job, assumed_)) {}
  LeafReasons(const LeafReasons&) = delete;
  LeafReasons& operator=(const LeafReasons&) = delete;

  const LeafInput& input() const { return input_; }
  // Adds a leaf that is admitted, `times` over, to the leaves that its resource excludes.
  void Count(std::int32_t leaf, const Amount* assumed, std::int64_t times,
             std::span<std::int64_t> excluded) const;
  // Adds every leaf that is admitted.
  void CountAll(std::int32_t leaves, std::span<std::int64_t> excluded) const;

 private:
  FlatAssumed assumed_;  // empty: callers give what is assumed on a leaf with the leaf
  LeafInput input_;
};

// Counts the leaves without room for a pod of a shape, by worker resource, and brings these numbers
// up to date with a state: only the leaves of groups that changed are looked at again.
class ExcludedLeaves {
 public:
  // Returns the most bytes that this may come to hold for a state.
  static std::size_t MostBytes(const FlavorState& state);

  // Resets the numbers; keeps the allocated memory.
  void Forget() { counted_ = {}; }
  // Begins with those of the state that the job's is a branch of, if it has all their stamps.
  void BeginWith(const ExcludedLeaves& of_parent, const PlacementJob& job);

  // Returns how many of the leaves that the job's filter admits have no room for a pod, by worker
  // resource. Ignores assumed usage. Earlier calls were for the same shape, and for the same state
  // or for one of which it is a branch or that was another branch. `counter` is valid for the job.
  // Requires dense capacity, requests of 0 or more and the whole flavor as replacement domain.
  const std::vector<std::int64_t>& Count(const PlacementJob& job, const LeafCounter& counter);

 private:
  static void Find(const LeafReasons& reasons, const LeafCounter& counter, DomainRange leaves,
                   std::vector<std::int16_t>& found);
  void FindAgain(const LeafReasons& reasons, const LeafCounter& counter, DomainRange leaves);

  CapacityVersion counted_;
  std::shared_ptr<const NodeFilter> filter_;
  std::vector<std::int16_t> reasons_;   // [leaves, in whole tiles] worker resource, or -1
  std::vector<std::int64_t> excluded_;  // leaves by worker resource
  std::vector<std::int32_t> stale_;     // groups
  std::vector<std::int16_t> found_;     // of the leaves that are looked at, in whole tiles
};

using ExcludedCache = BranchCache<ExcludedLeaves>;

}  // namespace espalier
