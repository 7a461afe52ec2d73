// Rolled-up counts of one shape on one state, kept up to date: after usage changed, only the groups
// of leaves that changed and their ancestors are counted again. Counts of leaves are kept only for
// shapes whose decisions read them all; otherwise a group's leaves are counted when a decision
// reaches them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fallback_cpu/leaf_counter.hpp"
#include "fallback_cpu/leaf_summary.hpp"
#include "fallback_cpu/scratch.hpp"
#include "host/engine/backend.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {

class ShapeCounts {
 public:
  // Resets the counts; keeps the allocated memory.
  void Forget();

  // Rebases the counts onto another state, whose stamps are `now`; the stamps of the state they
  // were for were `before`, which are frozen. Returns false, and does nothing, where counting all
  // is sooner.
  bool RebaseOnto(const GroupStamps& before, const GroupStamps& now);

  // Returns whether the decisions on a job read every leaf's counts.
  static bool NeedsLeaves(const PlacementJob& job);

  // Brings the counts up to date with the job's state and applies the job's assumed usage. Earlier
  // counts must be of the same state and shape and the same kind of job. `leaves` is the calling
  // thread's.
  void Refresh(const PlacementJob& job, CountsStorage& leaves);

  // Does the first step of the same for many shapes that share the reading of the capacity:
  // Prepare, then CountGroups with ends that ascend up to the last group's, then Finish. Returns
  // how many groups must be counted.
  std::size_t Prepare(const PlacementJob& job);
  void CountGroups(std::int32_t end, CountsStorage& leaves);
  void Finish();

  // Returns an upper bound of the slices that a query can place that requires this level, or
  // prefers any, on up-to-date counts.
  Count MostSlices(std::int32_t level, bool required);

  // Brings the numbers of CountExclusions up to date in the same steps.
  std::size_t PrepareExclusions(const PlacementJob& job);
  void CountGroupExclusions(std::int32_t end);
  void FinishExclusions();

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

  // Counts the leaves without room for one pod, per worker resource, and the leaves outside the
  // replacement domain (R18.5). Counts the whole flavor once and then only changes. Thread-safe.
  void CountExclusions(const PlacementJob& job, PlacementResult& result);

 private:
  CountsView LeavesIn(CountsStorage& leaves);
  bool CanSumGroups() const;
  void CountOneGroup(std::int32_t group, const CountsView& leaves);
  void RollUpGroups(const LeafGroups& groups, const CountsView& leaves);
  void SumGroups(const LeafGroups& groups);
  void RollUpAll();
  bool StartFromClasses(const PlacementJob& job);
  void CollectStale(const PlacementJob& job);
  void AppendStale(const PlacementJob& job);
  bool StartExclusionsFromClasses(const PlacementJob& job);
  void CollectStaleExclusions(const PlacementJob& job);
  LeafGroups TilesOf(const LeafGroups& groups);
  void SetReasonsOfClasses(const LeafGroups& tiles);
  void RollUpAncestors();

  std::optional<LeafCounter> counter_;
  const FlavorSnapshot* snapshot_ = nullptr;
  const Shape* shape_ = nullptr;
  CountsStorage storage_;
  bool leaves_kept_ = false;
  LeafSummary leaf_summary_;  // of leaves that are kept, without a leader
  bool counted_ = false;      // not while they are being counted, nor after a failure in between
  bool cold_ = false;         // between Prepare and Finish: every group is to be counted
  std::int64_t groups_counted_ = 0;
  Stamp made_at_ = 0;  // what is stamped later is to be counted again
  Stamp latest_ = 0;   // what made_at_ becomes in Finish
  // Groups that must be counted whatever the stamps say, as their counts assume other usage than
  // this state's.
  std::vector<std::int32_t> assumed_groups_;
  std::vector<std::int32_t> stale_;  // groups; none when `cold_`
  std::int32_t stale_done_ = 0;      // of these, or of all, from the front
  std::vector<StoredCount> sums_;    // of the groups in stale_
  std::vector<std::uint32_t> seen_;  // by inner domain: the refresh that met it last
  std::uint32_t refresh_ = 0;

  // Reasons that exclude leaves, and how many leaves each of them excludes; filled after the first
  // failure.
  std::mutex exclusions_mutex_;
  bool exclusions_known_ = false;  // as counted_
  bool reasons_kept_ = false;      // by leaf
  bool exclusions_cold_ = false;   // between Prepare and Finish: as cold_
  Stamp exclusions_made_at_ = 0;   // as made_at_
  // Groups whose reasons must be found; between refreshes: whatever the stamps say.
  std::vector<std::int32_t> exclusions_stale_;
  std::int32_t exclusions_done_ = 0;
  std::int32_t last_tile_ = -1;  // that was appended to tiles_
  std::vector<std::int32_t> tiles_;
  std::vector<std::uint8_t> reason_of_leaf_;
  std::vector<std::int64_t> excluded_;  // leaves by reason, as ExclusionReasons::sums
  // When set, tiles may have only the reasons of the classes of their leaves: reason_of_leaf_ is
  // not written there yet.
  std::shared_ptr<const LeafClasses> reason_classes_;
  ClassTable reason_of_class_;
  std::vector<bool> of_classes_;  // by tile
};

}  // namespace espalier
