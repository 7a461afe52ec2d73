// Tracks whether one job fits while usage changes, at a cost that follows the size of the changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/engine/backend.hpp"
#include "kernels/decisions/changed_leaves.hpp"
#include "kernels/decisions/fit_bound.hpp"
#include "kernels/decisions/leaf_counts.hpp"

namespace espalier {

// Counts of one job on its state and the leaves that were changed here; the state stays as it is.
class FitTracker {
 public:
  // Counts the job's shape on its state, which must not change while this object lives. The job
  // must outlive this object.
  FitTracker(const PlacementJob& job, const Backend& backend);
  FitTracker(const FitTracker&) = delete;
  FitTracker& operator=(const FitTracker&) = delete;

  // Returns whether amounts of a job are so small that no sum of them saturates; only then may it
  // be tracked.
  static bool CanTrack(const PlacementJob& job);

  // Returns usage to leaves (`sign` 1) or takes it from them (-1); leaves ascend. Returns false
  // when no count has changed.
  bool Change(std::span<const LeafAmount> amounts, Amount sign);

  // Returns the counts of all domains as they are now.
  const CountsView& counts() const { return counts_; }

  // Returns whether the job would be placed now.
  FitBound Bound() const { return Bound(job_.query); }
  // Returns the same of a job with another query, whose answer the same tallies decide.
  FitBound Bound(const PlacementQuery& query) const {
    return BoundOf(tree_, tallies_.data(), query, counts_.affinity != nullptr);
  }

 private:
  bool Tallied(std::int32_t level) const {
    return level >= FirstTallied(job_.query) && level <= job_.query.level;
  }
  Amount* ChangedLeaf(std::int32_t leaf);
  void FreeIfAsBefore(std::int32_t leaf, const Amount* row);
  template <class Count>
  bool Recount(std::int32_t level, std::int32_t domain, const Count& count);
  void RollUpChanged();

  const PlacementJob& job_;
  TreeView tree_;
  LeafInput input_;                   // assumes no usage: rows_ do
  std::vector<std::int32_t> row_of_;  // as in ChangedLeaves
  std::vector<Amount> rows_;
  std::int32_t row_count_ = 0;
  std::vector<std::int32_t> free_rows_;  // of these
  ChangedLeaves changed_leaves_;
  CountsStorage stored_;
  CountsView counts_;                  // of stored_
  std::vector<LevelTally> tallies_;    // by level; of those that BoundOf reads
  std::vector<std::int32_t> changed_;  // domains of one level whose counts have changed, ascending
};

}  // namespace espalier
