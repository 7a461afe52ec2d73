// Tracks whether a request fits while victims are removed and put back.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/request.hpp"
#include "host/what_if/fit_tracker.hpp"
#include "host/what_if/victims_by_flavor.hpp"

namespace espalier {

// Removes victims and puts them back at the cost of their usage, except for requests of several
// groups of pod sets, with a leader where no domain suffices alone, or with balanced placement,
// which are placed anew. All arguments must outlive it; `state` does not change.
class RemovalTrial {
 public:
  RemovalTrial(const Engine& engine, const ClusterState& state, const WorkloadRequest& request,
               std::span<const Victim> victims, const VictimsByFlavor& held);
  RemovalTrial(const RemovalTrial&) = delete;
  RemovalTrial& operator=(const RemovalTrial&) = delete;

  // Removes a victim or puts it back.
  void Set(std::size_t victim, bool removed);
  // Undoes the last Set, before which Fits had returned `fitted`.
  void TakeBack(std::size_t victim, bool removed, bool fitted);

  // Returns whether the request fits with the victims removed that are removed now.
  bool Fits();

  // Places the request on a branch without the removed victims.
  WorkloadAnswer Place();

 private:
  void Track(const VictimsByFlavor& held);
  bool Evaluate();
  std::span<const LeafAmount> HeldBy(std::size_t victim) const {
    return held_ == nullptr ? std::span<const LeafAmount>() : held_->Of(victim);
  }

  const Engine& engine_;
  const ClusterState& state_;
  const WorkloadRequest& request_;
  std::span<const Victim> victims_;
  std::vector<bool> removed_;
  std::vector<bool> booked_out_;  // removed from the branch
  std::vector<std::size_t> set_;  // that were set since the branch was changed
  std::optional<ClusterState> branch_;

  bool is_constant_ = false;  // usage makes no difference to the answer
  bool decides_ = false;      // the tracked job is the whole request
  std::optional<PlacementJob> job_;
  std::optional<FitTracker> tracker_;
  const VictimsOnFlavor* held_ = nullptr;  // on the tracked job's flavor; null: no victim uses it
  std::optional<bool> fits_;               // absent: not known
};

// Returns whether a workload is decided by one job alone, because its pod sets are placed together.
bool IsOneGroup(const WorkloadRequest& request);

// Returns whether a request that was placed is placed with more capacity too, and BoundOf is never
// open about it: it is the job alone that decides, and how much domains hold.
bool NeedsOnlyRoom(const PlacementJob& job);

}  // namespace espalier
