// Rolled-up counts of one shape on one state, kept warm: after usage changed, only the blocks of
// leaves that changed and their ancestors are counted anew. Counts of leaves are kept only for
// shapes that are asked for them all; elsewhere a block's leaves are counted when they are come to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "fallback_cpu/leaf_counter.hpp"
#include "fallback_cpu/scratch.hpp"
#include "host/engine/backend.hpp"
#include "kernels/decisions/leaf_summary.hpp"
#include "kernels/team/serial_team.hpp"

namespace espalier {

class ShapeCounts {
 public:
  // As if new, but for the memory.
  void Forget();

  // Makes the counts those of another state of the snapshot, whose stamps are `now`; the one they
  // were for had `before`, which are frozen.
  void GoOnFrom(const BlockStamps& before, const BlockStamps& now);

  // Whether the decisions on a job read every leaf's counts.
  static bool NeedsLeaves(const PlacementJob& job);

  // Brings the counts up to date with the job's state and applies the job's assumed usage. What was
  // counted before must have been for the same state and shape and the same kind of job. `leaves`
  // is the calling thread's.
  void Refresh(const PlacementJob& job, CountsStorage& leaves);

  // The same in steps, for many shapes that are to share the reading of the capacity: Prepare, then
  // CountBlocks with ends that ascend up to the last block's, then Finish. Answers how many blocks
  // there are to count.
  std::size_t Prepare(const PlacementJob& job);
  void CountBlocks(std::int32_t end, CountsStorage& leaves);
  void Finish();

  // No query that requires this level, or prefers any, can place more slices on up-to-date counts.
  Count MostSlices(std::int32_t level, bool required);

  // Brings the numbers of CountExclusions up to date in the same steps.
  std::size_t PrepareExclusions(const PlacementJob& job);
  void LimitBlocks(std::int32_t end);
  void FinishExclusions();

  // Blocks counted since this object was made: the work that changes have caused.
  std::int64_t blocks_counted() const { return blocks_counted_; }

  // Where decisions read, with the affinity the job wants. Valid while `leaves` is not used for
  // another job.
  class Source {
   public:
    const CountsView& stored() const { return stored_; }
    const CountsView& Of(SerialTeam& /*team*/, std::int32_t level, DomainRange domains) const;

   private:
    friend class ShapeCounts;
    CountsView stored_;  // leaves included when `counter_` is null
    CountsView leaves_;
    const LeafCounter* counter_ = nullptr;
    std::int32_t lowest_ = 0;
    std::int32_t first_leaf_ = 0;
  };
  Source SourceFor(const PlacementJob& job, CountsStorage& leaves);

  // Leaves without room for one pod, per worker resource, and leaves outside the replacement domain
  // (R18.5). Counts the whole flavor once; from then on only what changed since. Thread-safe.
  void CountExclusions(const PlacementJob& job, PlacementResult& result);

 private:
  CountsView LeavesIn(CountsStorage& leaves);
  bool SumsOnly() const;
  void CountOneBlock(std::int32_t block, const CountsView& leaves);
  void RollUpBlock(std::int32_t block, const CountsView& leaves);
  void SumBlocks(const Blocks& blocks);
  void RollUpAll();
  bool StartFromClasses(const PlacementJob& job);
  void CollectStale(const PlacementJob& job);
  void AppendStale(const PlacementJob& job);
  bool StartLimitsFromClasses(const PlacementJob& job);
  void CollectLimited(const PlacementJob& job);
  Blocks TilesOf(const Blocks& blocks);
  void SetLimitsOfClasses(const Blocks& tiles);
  void RollUpAncestors();

  std::optional<LeafCounter> counter_;
  const FlavorSnapshot* snapshot_ = nullptr;
  const Shape* shape_ = nullptr;
  CountsStorage storage_;
  bool leaves_kept_ = false;
  LeafSummary leaf_summary_;  // of leaves that are kept, without a leader
  bool counted_ = false;
  bool cold_ = false;  // between Prepare and Finish: every block is to be counted
  std::int64_t blocks_counted_ = 0;
  Stamp made_at_ = 0;  // what is stamped later is to be counted again
  // To be counted whatever the stamps say: for other usage than this state's own.
  std::vector<std::int32_t> assumed_blocks_;
  std::vector<std::int32_t> stale_;  // blocks; none when `cold_`
  std::int32_t stale_done_ = 0;      // of these, or of all, from the front
  std::vector<StoredCount> sums_;    // of the blocks in stale_
  std::vector<std::uint32_t> seen_;  // by inner domain: the refresh that met it last
  std::uint32_t refresh_ = 0;

  // Only after a first failure: what limits each leaf, and how many leaves are limited by what.
  std::mutex limited_mutex_;
  bool limited_known_ = false;
  bool limited_cold_ = false;                // between Prepare and Finish: as cold_
  Stamp limits_made_at_ = 0;                 // as made_at_
  std::vector<std::int32_t> limited_stale_;  // blocks; between refreshes: whatever the stamps say
  std::int32_t limited_done_ = 0;
  std::int32_t last_limited_tile_ = -1;
  std::vector<std::int32_t> limited_tiles_;
  std::vector<std::uint8_t> limit_of_leaf_;
  std::vector<std::int64_t> limited_;
  // Where set, tiles may stand for what limits the classes of their leaves: limit_of_leaf_ is not
  // written there yet.
  std::shared_ptr<const LeafClasses> limited_classes_;
  ClassTable limit_of_class_;
  std::vector<bool> of_classes_;  // by tile
};

}  // namespace espalier
