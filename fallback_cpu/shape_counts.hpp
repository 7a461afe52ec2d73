// Rolled-up counts of one shape, brought up to date with the state of each job: only the groups of
// leaves in which it differs from what was counted and their ancestors are counted again. Counts of
// leaves are kept only for shapes whose decisions read them all; otherwise a group's leaves are
// counted when a decision reaches them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fallback_cpu/branch_cache.hpp"
#include "fallback_cpu/capacity_classes.hpp"
#include "fallback_cpu/capacity_version.hpp"
#include "fallback_cpu/excluded_leaves.hpp"
#include "fallback_cpu/leaf_counter.hpp"
#include "fallback_cpu/leaf_summary.hpp"
#include "fallback_cpu/scratch.hpp"
#include "host/engine/backend.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {

using ClassesCache = BranchCache<CapacityClasses>;

// Finds why leaves are excluded: by classes where leaves are alike, else leaf by leaf for each
// shape.
struct ExclusionCaches {
  ClassesCache classes;
  ExcludedCache by_leaf;
};

class ShapeCounts {
 public:
  // Resets the counts; keeps the allocated memory.
  void Forget();

  // Begins with the counts of the state that the job's is a branch of, where these are sums and the
  // branch has all their stamps. Does nothing else. Requires that there are no counts yet.
  void BeginWith(const ShapeCounts& of_parent, const PlacementJob& job);

  // Brings the counts up to date with the job's state and applies the job's assumed usage. Earlier
  // counts must be of the same shape and kind of job, and of the same state or a branch of it whose
  // stamps are frozen. `leaves` is the calling thread's.
  void Refresh(const PlacementJob& job, CountsStorage& leaves);

  // Does the first step of the same for many shapes that share the reading of the capacity:
  // Prepare, then CountGroups with ends that ascend up to the last group's, then Finish. Returns
  // how many groups must be counted.
  std::size_t Prepare(const PlacementJob& job);
  void CountGroups(std::int32_t end, CountsStorage& leaves);
  void Finish();

  // Returns the counts, those of leaves only where they are kept.
  CountsView stored() { return storage_.View(); }

  // Returns how many groups were counted since this object was made: the work that changes have
  // caused.
  std::int64_t groups_counted() const { return groups_counted_; }

  // Provides the counts that decisions read, with the affinity that the job uses. Valid while
  // `leaves` is not used for another job.
  class Source {
   public:
    const CountsView& stored() const { return stored_; }
    const SliceIndex* slice_index() const { return slice_index_; }  // null: there is none
    const CountsView& Of(SerialTeam& /*team*/, std::int32_t level, DomainRange domains) const;
    const CountsView& OfChildren(SerialTeam& team, const TreeView& tree, std::int32_t level,
                                 const ShareList& parents) const;
    Source InPlace(const CountsView& others) const;

   private:
    friend class ShapeCounts;
    CountsView stored_;  // leaves included when `counter_` is null
    CountsView leaves_;
    const SliceIndex* slice_index_ = nullptr;
    const LeafCounter* counter_ = nullptr;
    std::int32_t lowest_ = 0;
    std::int32_t first_leaf_ = 0;
  };
  Source SourceFor(const PlacementJob& job, CountsStorage& leaves);

  // Finds what CountExclusions asks of each class of leaves, if that was asked before. Thread-safe.
  void PrepareExclusions(const PlacementJob& job, ExclusionCaches& caches);

  // Counts the leaves without room for one pod, per worker resource, and the leaves outside the
  // replacement domain (R18.5), on up-to-date counts. Thread-safe.
  void CountExclusions(const PlacementJob& job, ExclusionCaches& caches, FailedPlacement& failed);

 private:
  CountsView LeavesIn(CountsStorage& leaves);
  bool CanSumGroups() const;
  LeafGroups TakeBefore(std::int32_t end);
  void CountLeavesOf(const LeafGroups& groups, const CountsView& leaves);
  void RollUpGroups(const LeafGroups& groups, const CountsView& leaves);
  void SumGroups(const LeafGroups& groups);
  void RollUpAll();
  bool IsSoonerByClasses(const PlacementJob& job) const;
  bool StartFromClasses(const PlacementJob& job);
  void CollectStale(const PlacementJob& job);
  bool NoteStale(const PlacementJob& job);
  void RollUpAncestors();
  void CountExcluded(const PlacementJob& job, ExclusionCaches& caches);
  CapacityClasses::Leaves FindReasons(const PlacementJob& job, ClassesCache::Entry& entry);

  std::optional<LeafCounter> counter_;
  const FlavorSnapshot* snapshot_ = nullptr;
  const PodShape* shape_ = nullptr;
  CountsStorage storage_;
  bool leaves_kept_ = false;
  LeafSummary leaf_summary_;  // of leaves that are kept, without a leader
  bool exact_ = false;        // no sum is cut off at the most that a count can be
  bool counted_ = false;      // not while they are being counted, nor after a failure in between
  bool cold_ = false;         // between Prepare and Finish: every group is to be counted
  std::int64_t groups_counted_ = 0;
  CapacityVersion counted_version_;  // what differs from it is to be counted again
  CapacityVersion latest_;           // what counted_version_ becomes in Finish
  // Groups that must be counted whatever the stamps say, as their counts assume other usage than
  // this state's.
  std::vector<std::int32_t> assumed_groups_;
  std::vector<std::int32_t> stale_;  // groups, ascending; none when `cold_`
  std::int32_t stale_done_ = 0;      // of these, or of all, from the front
  std::vector<StoredCount> sums_;    // of the groups in stale_
  std::vector<std::uint32_t> seen_;  // by inner domain: the refresh that met it last
  std::uint32_t refresh_ = 0;

  std::mutex exclusions_mutex_;  // guards all below
  CapacityVersion excluded_of_;
  std::vector<std::int64_t> excluded_;  // leaves without room for a pod, by worker resource
  // The worker resource without room for a pod by class, or -1; in whole tiles and as far as it was
  // asked for.
  std::vector<std::int16_t> reason_of_class_;
  std::uint64_t numbering_ = 0;  // of these classes
};

}  // namespace espalier
