// Keeps the state of a cluster in a server: the input that was sent, and its packed form that
// placements read.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "host/engine/resolved_shape_cache.hpp"
#include "host/live/ended_holds.hpp"
#include "host/live/hold_changes.hpp"
#include "host/live/indexed_input.hpp"
#include "host/live/loaded_configuration.hpp"
#include "host/live/lost_holds.hpp"
#include "host/live/proposed_change.hpp"
#include "host/live/state_delta.hpp"
#include "host/live/state_position.hpp"
#include "host/packing/booked_amounts.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// An immutable state. Readers keep it alive while later states replace it.
struct PublishedState {
  StatePosition position;
  ClusterState state;
  std::int64_t nodes = 0;                           // as loaded, available or not
  std::chrono::system_clock::time_point published;  // the epoch: nothing is loaded
  // Resolved shapes; shared with the states that this one came from by changes.
  std::shared_ptr<ResolvedShapeCache> shapes = std::make_shared<ResolvedShapeCache>();
  // True where flavors on the same nodes see each other's usage (R5.6).
  bool shares_usage = true;
  // The workloads whose usage is in `state`; never null.
  std::shared_ptr<const AdmittedWorkloads> admitted = std::make_shared<AdmittedWorkloads>();
  SharedConfiguration configuration = nullptr;
  std::int64_t holds = 0;  // whose usage is in `state`
};

// The input that the state of a position was built from.
struct LoadedInput {
  StatePosition position;
  ClusterStateInput input;  // its usage of leaves includes that of workloads by key and of holds
  SharedConfiguration configuration = nullptr;
  std::vector<std::shared_ptr<const Hold>> holds = {};  // by id
};

// Thread-safe. Changes happen one after the other and in whole: a change that fails, or whose work
// is stopped before it is done, has no effect. Where it ends with an exception, as memory ran out,
// nobody knows how far it came: then nothing is loaded any more. The memory of a state is charged
// to the budget of the call that makes it, and then handed over to the state.
class StateStore {
 public:
  // Counts what becomes of holds in `counts`, where that is not null.
  explicit StateStore(std::shared_ptr<HoldCounts> counts = nullptr);

  // A state and the checksum of its contents.
  struct Checked {
    std::shared_ptr<const PublishedState> snapshot;
    std::uint64_t checksum = 0;  // 0 before the first load
  };
  // Returns the current state and its checksum. Takes time that grows with what was booked since
  // the last call; waits for a change in flight.
  Result<Checked> CurrentChecked(WorkBudget& budget = WorkBudget::Unlimited());
  // Returns the same, or nullopt at once while a change is in flight.
  Result<std::optional<Checked>> TryCurrentChecked(WorkBudget& budget);

  // Returns the current state, never null; before the first load an empty state of generation 0.
  std::shared_ptr<const PublishedState> Current() const;

  // Returns the current state, which must be the one named. Errors: kStale when it is not, or
  // nothing is loaded; kNotFound after Close, as for all calls below.
  Result<std::shared_ptr<const PublishedState>> At(
      const std::optional<StatePosition>& position) const;

  // Returns a copy of the input that the current state, which must be the one named, was built
  // from. Waits for a change in flight. Errors: kStale as in At.
  Result<LoadedInput> LoadedAt(const std::optional<StatePosition>& position,
                               WorkBudget& budget = WorkBudget::Unlimited());

  // Returns the same without what the workloads that are known by key and the holds use, and those
  // workloads.
  struct Contents {
    LoadedInput loaded;
    std::vector<AdmittedUsage> workloads;  // by key
    std::vector<FlavorLeafUsage> held;     // what the holds use together, one entry per leaf
  };
  Result<Contents> ContentsAt(const std::optional<StatePosition>& position,
                              WorkBudget& budget = WorkBudget::Unlimited());

  // A reading of the state as it was at a position, a part at a time, while it changes in between.
  struct Reading {
    StatePosition position;
    std::uint64_t checksum = 0;  // that of the holds included
    std::int64_t holds = 0;      // which no part has
    std::shared_ptr<const AdmittedWorkloads> workloads;
    SharedConfiguration configuration;
    std::chrono::system_clock::time_point published;
    std::shared_ptr<InputAsOf> input;
  };
  // Begins to read the current state, which ends the reading before. Takes as long as
  // CurrentChecked. Errors: kStale when nothing is loaded.
  Result<Reading> BeginReading(WorkBudget& budget = WorkBudget::Unlimited());
  // Appends the next `most` values to `part`: no change waits for more than those. The usage of
  // leaves is without that of workloads by key and of holds. Returns whether more follow. Errors:
  // kStale when the state was loaded anew, or another reading was begun.
  Result<bool> ReadOn(Reading& reading, std::size_t most, ClusterStateInput& part);

  // Returns only the topologies and flavors of that input. Waits as LoadedAt. Errors: kStale as in
  // At.
  Result<ClusterStateInput> FlavorsAt(const std::optional<StatePosition>& position);

  // Ends the state: every later call that needs one, a load included, fails with kNotFound. Waits
  // for a change in flight.
  void Close();

  // Replaces everything but the holds, which are kept as long as their nodes are there: those that
  // are not are appended to `dropped`, where that is not null. `budget` must have been charged for
  // `input` and `workloads`, whose usage comes on top of that of `input`. Errors: kBadInput as in
  // ClusterState::Build, or when a workload is named twice.
  Result<StatePosition> Load(ClusterStateInput input, WorkBudget& budget = WorkBudget::Unlimited(),
                             std::vector<AdmittedUsage> workloads = {},
                             SharedConfiguration configuration = nullptr,
                             std::vector<LostHold>* dropped = nullptr);

  // A state that a server before this one had, as far as it is known.
  struct Restored {
    StatePosition position;
    // True where nothing came after that position. Then it stays the position of the state, and the
    // next change begins an epoch; else the state has an epoch of its own, at that generation.
    bool last = false;
    std::optional<std::uint64_t> checksum;  // that the contents must have
    std::chrono::system_clock::time_point published;
  };
  // Loads such a state into a store that has none. Errors as in Load; kBadInput when the contents
  // have another checksum.
  Result<StatePosition> Restore(const Restored& restored, ClusterStateInput input,
                                WorkBudget& budget, std::vector<AdmittedUsage> workloads,
                                SharedConfiguration configuration);

  // Extends the state at `base`, gives it another Configuration where one is named, and lets
  // flavors on the same nodes see what was booked since the last update (R5.6, R5.7). Takes as long
  // as ClusterState::Apply when that can be used. Holds that it takes a leaf of away end with it
  // and are appended to `broken`, where that is not null. Errors: kStale; kBadInput when it removes
  // a node that does not exist.
  Result<StatePosition> Update(const StatePosition& base, StateDelta delta,
                               WorkBudget& budget = WorkBudget::Unlimited(),
                               std::optional<SharedConfiguration> configuration = std::nullopt,
                               std::vector<LostHold>* broken = nullptr);

  // Extends the state at `base` by holds, as Update. Each must have an id that no other ever had.
  // Problems: a workload has a hold already.
  HoldResult PlaceHolds(const StatePosition& base, std::vector<Hold> holds,
                        WorkBudget& budget = WorkBudget::Unlimited());

  // Ends holds and makes the change that reports usage in their place, in one generation. Problems:
  // holds that are not there, or that have expired by `now`. Errors: those of Update, and kBadInput
  // of CheckHoldIds and ReportedUsage.
  HoldResult ConfirmHolds(HoldConfirmation confirmation, HoldClock::TimePoint now,
                          WorkBudget& budget = WorkBudget::Unlimited(),
                          std::vector<LostHold>* broken = nullptr);

  // Ends holds. Problems and errors as above.
  HoldResult ReleaseHolds(const std::vector<std::string>& ids, HoldClock::TimePoint now,
                          WorkBudget& budget = WorkBudget::Unlimited());

  // Lets holds expire at `expires`; the state stays at its generation. Problems and errors as
  // above.
  HoldResult ExtendHolds(const std::vector<std::string>& ids, HoldClock::TimePoint now,
                         HoldClock::TimePoint expires);

  // Holds that have expired, and the position that their end led to.
  struct Expired {
    StatePosition position;
    std::vector<std::string> ids;  // empty: none has
  };
  // Ends all holds that have expired by `now`, in one generation, if there are any, and names them
  // in `expired`, where that is not null. Returns when the next one expires, or TimePoint::max().
  // The error is why `budget` was stopped; then none has ended.
  Result<HoldClock::TimePoint> ExpireHolds(HoldClock::TimePoint now,
                                           WorkBudget& budget = WorkBudget::Unlimited(),
                                           Expired* expired = nullptr);

  // Returns the holds, by id, and the position of the state that they are of. Waits for a change in
  // flight. Errors: kStale when nothing is loaded.
  struct HoldsAt {
    StatePosition position;
    std::vector<std::shared_ptr<const Hold>> holds;
  };
  Result<HoldsAt> ListHolds();

  // Returns the first of these holds that is there and was made by none of `makers`, or null. One
  // whose maker is not known is everybody's.
  std::shared_ptr<const Hold> FindHoldOfOthers(std::span<const std::string> ids,
                                               std::span<const std::string> makers);

  // Returns nodes of the state at `position` by their names. Errors: kStale; kNotFound for one that
  // does not exist.
  Result<std::vector<Node>> NodesAt(const StatePosition& position,
                                    const std::vector<std::string>& names) const;

  // Returns the state at `position` after a proposed change, without changing it. Errors are those
  // of Update; kNotFound for a drained node that does not exist; kBadInput for a node that changes
  // twice, and where more usage of a node is taken away than there is.
  Result<ClusterState> With(const StatePosition& position, ProposedChange change,
                            WorkBudget& budget = WorkBudget::Unlimited());

  // Publishes `booked`, a branch of the state at `base` to which usage was added; flavors that the
  // usage does not name see it with the next update. Errors: kStale.
  Result<StatePosition> Book(const StatePosition& base, ClusterState booked,
                             WorkBudget& budget = WorkBudget::Unlimited());

 private:
  class UnloadOnThrow;

  Result<StatePosition> LoadOr(const Restored* restored, ClusterStateInput input,
                               WorkBudget& budget, std::vector<AdmittedUsage> workloads,
                               SharedConfiguration configuration, std::vector<LostHold>* dropped);
  // Forgets everything, as if nothing had been loaded. Allocates nothing.
  void Unload();
  // Makes the change that Update describes to the current state.
  Result<StatePosition> MakeChange(const PublishedState& current, StateDelta delta,
                                   WorkBudget& budget,
                                   std::optional<SharedConfiguration> configuration = std::nullopt,
                                   std::vector<LostHold>* broken = nullptr);
  // Returns what is wrong with the holds of these ids.
  std::vector<HoldProblem> ProblemsOf(const std::vector<std::string>& ids,
                                      HoldClock::TimePoint now) const;
  // Note that holds, which are not in `input_` any more, have ended, and append them to `told`,
  // where that is not null.
  void NoteEnded(const std::vector<std::string>& ids, HoldEnd how);
  void NoteLost(const std::vector<LostHold>& lost, HoldEnd how, std::vector<LostHold>* told);
  // Adds to a built state and to its input the holds of the current one that it can keep, and
  // appends the others to `dropped`.
  Result<void> KeepHolds(IndexedInput& input, ClusterState& state, WorkBudget& budget,
                         std::vector<LostHold>& dropped);
  // Returns the state of the changed `input_`, of which `undo` is the way back. `change_mutex_`
  // must be held, as for all functions below.
  Result<ClusterState> Changed(const StateDelta& undo, WorkBudget& budget);
  // Copies `input_`, of the current state. `change_mutex_` must be held.
  Result<LoadedInput> Copied(const StatePosition& position, WorkBudget& budget);
  // Returns a proposed change as one of the input.
  Result<StateDelta> Resolved(ProposedChange change) const;
  // Returns the state of `input_`.
  Result<ClusterState> BuildAnew(WorkBudget& budget);
  // Returns the current state and its checksum.
  Result<Checked> WithChecksum(WorkBudget& budget);
  // Adds to `input_` all that was booked, and charges what it grows by. The error is why `budget`
  // was stopped.
  Result<void> TakeInBooked(WorkBudget& budget);
  // Adds to `input_` what was booked, either all of it or where `delta` sets something else.
  void TakeInBooked();
  void TakeInBooked(const StateDelta& delta);
  // Returns the position that follows the current one.
  StatePosition NextPosition();
  // Publishes `state`, which was made of the current `input_`.
  StatePosition Publish(ClusterState state, std::shared_ptr<ResolvedShapeCache> shapes);
  StatePosition PublishAt(const StatePosition& position,
                          std::chrono::system_clock::time_point published, ClusterState state,
                          std::shared_ptr<ResolvedShapeCache> shapes);
  // Takes over from `budget` the charged growth of `input_`.
  void HoldInput(WorkBudget& budget);

  mutable std::mutex mutex_;  // guards both below; held for the copy of a pointer
  std::shared_ptr<const PublishedState> current_;
  bool closed_ = false;              // changes under `change_mutex_` too
  mutable std::mutex change_mutex_;  // held during a change; guards all below
  std::shared_ptr<const PublishedState>
      unloaded_;  // what Unload makes the current one; null: it has
  std::unique_ptr<IndexedInput> input_;
  std::shared_ptr<const AdmittedWorkloads> admitted_;  // those of `input_`
  SharedConfiguration configuration_;                  // beside it
  BookedAmounts booked_;                               // what is not in `input_` yet
  BookedAmounts not_shared_;  // booked since the last update, to be seen by other flavors
  std::optional<std::uint64_t> next_epoch_;  // of the next change, where it begins one
  EndedHolds ended_holds_;
  const std::shared_ptr<HoldCounts> hold_counts_;  // never null
  MemoryHold booked_memory_;                       // of both, on first use
  MemoryHold input_memory_;
};

}  // namespace espalier
