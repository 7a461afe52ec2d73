// The state of the cluster as the server knows it: what was sent, and the packed form of it that
// placements read.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "host/packing/booked_amounts.hpp"
#include "host/packing/cluster_state.hpp"
#include "service/server/indexed_input.hpp"
#include "service/wire/cluster_state.hpp"
#include "service/wire/gang_shapes.hpp"
#include "service/wire/state_position.hpp"

namespace espalier {

// One state; never changes. Readers hold on to it while later states take its place.
struct Snapshot {
  StatePosition position;
  ClusterState state;
  std::int64_t nodes = 0;                           // as loaded, available or not
  std::chrono::system_clock::time_point published;  // the epoch: nothing is loaded
  // Of gangs on these nodes; shared with the states that only differ in usage.
  std::shared_ptr<KnownGangShapes> shapes = std::make_shared<KnownGangShapes>();
};

// What the state of a position was built from.
struct LoadedInput {
  StatePosition position;
  ClusterStateInput input;
};

// All functions may be called from several threads at once. Changes happen one after the other and
// in whole: a change that fails, or whose work is stopped before it is done, leaves everything as
// it was. What a state takes is charged to the budget of the call that makes it, and handed over to
// it.
class StateStore {
 public:
  StateStore();

  // Never null; before the first load an empty state of generation 0.
  std::shared_ptr<const Snapshot> Current() const;

  // The current state, which must be the one named. kStale when it is not, or nothing is loaded.
  Result<std::shared_ptr<const Snapshot>> At(const std::optional<StatePosition>& position) const;

  // A copy of what the current state, which must be the one named, was built from. Waits for a
  // change under way. kStale as At.
  Result<LoadedInput> LoadedAt(const std::optional<StatePosition>& position,
                               WorkBudget& budget = WorkBudget::Unlimited());

  // Replaces everything. `budget` has been charged for `input`. kBadInput as ClusterState::Build.
  Result<StatePosition> Load(ClusterStateInput input, WorkBudget& budget = WorkBudget::Unlimited());

  // Extends the state at `base`, and lets flavors on the same nodes see what was booked since the
  // last update (R5.6, R5.7). Takes time that grows with the change unless nodes come, go, or
  // change in more than their amounts. kStale; kBadInput when it removes a node that is not there.
  Result<StatePosition> Update(const StatePosition& base, StateDelta delta,
                               WorkBudget& budget = WorkBudget::Unlimited());

  // Publishes `booked`, a branch of the state at `base` to which usage was added; flavors that are
  // not named in it see it with the next update. kStale.
  Result<StatePosition> Book(const StatePosition& base, ClusterState booked,
                             WorkBudget& budget = WorkBudget::Unlimited());

 private:
  // Returns the state that the changed `input_` makes, of which `undo` is the way back.
  // `change_mutex_` is held, as for all below.
  Result<ClusterState> Changed(const StateDelta& undo, WorkBudget& budget);
  // Adds to `input_` what was booked, all of it or where `delta` sets something else.
  void TakeInBooked();
  void TakeInBooked(const StateDelta& delta);
  // Publishes what `input_` has become.
  StatePosition Publish(ClusterState state, std::shared_ptr<KnownGangShapes> shapes);
  // Takes over from `budget` what `input_` has grown by, which was charged.
  void HoldInput(WorkBudget& budget);

  mutable std::mutex mutex_;  // guards current_; held for the copy of a pointer
  std::shared_ptr<const Snapshot> current_;
  mutable std::mutex change_mutex_;  // held during a change; guards all below
  std::unique_ptr<IndexedInput> input_;
  // Whether the current state was built with its nodes at the positions they have in `input_`.
  bool positions_known_ = false;
  BookedAmounts booked_;      // what is not in `input_` yet
  BookedAmounts not_shared_;  // what came after the last update, where other flavors are to see it
  MemoryHold booked_memory_;  // of both, on first use
  MemoryHold input_memory_;
};

}  // namespace espalier
