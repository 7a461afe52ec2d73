// Tracks whether one job fits while usage changes, at a cost that follows the size of the changes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/engine/backend.hpp"
#include "kernels/decisions/fit_bound.hpp"
#include "kernels/decisions/leaf_counts.hpp"

namespace espalier {

// Counts of one job on a copy of its state's amounts; changes only the copy.
class FitTracker {
 public:
  // Counts the job's shape on its state as it is now. The job must outlive this object.
  FitTracker(const PlacementJob& job, const Backend& backend);
  FitTracker(const FitTracker&) = delete;
  FitTracker& operator=(const FitTracker&) = delete;

  // Returns whether amounts of a job are so small that no sum of them saturates; only then may it
  // be tracked.
  static bool CanTrack(const PlacementJob& job);

  // Returns usage to leaves (`sign` 1) or takes it from them (-1); leaves ascend. Ignores resources
  // that the job does not request. Returns false when no count has changed.
  bool Change(std::span<const LeafAmount> amounts, Amount sign);

  // Returns the counts of all domains as they are now.
  const CountsView& counts() const { return counts_; }

  // Returns whether the job would be placed now.
  FitBound Bound() const {
    return BoundOf(tree_, tallies_.data(), job_.query, counts_.affinity != nullptr);
  }

 private:
  void BindColumns();
  RequestView Rebind(const RequestVector& request, std::vector<std::int32_t>& columns);
  bool Recount(std::int32_t leaf);
  void RollUpChanged();

  const PlacementJob& job_;
  TreeView tree_;
  std::vector<std::int32_t> column_of_;  // [columns of the snapshot] -1: not asked for
  std::vector<Amount> amounts_;          // [column_of_ * leaves + leaf]
  std::vector<std::int32_t> worker_columns_;
  std::vector<std::int32_t> leader_columns_;
  LeafInput input_;
  CountsStorage stored_;
  CountsView counts_;                  // of stored_
  std::vector<LevelTally> tallies_;    // by level
  std::vector<std::int32_t> changed_;  // domains of one level whose counts have changed, ascending
};

}  // namespace espalier
