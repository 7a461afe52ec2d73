// Makes the calls of a request log again and compares the answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "espalier/v1/holds.pb.h"
#include "espalier/v1/types.pb.h"
#include "host/live/hold.hpp"
#include "host/live/state_position.hpp"
#include "host/model/result.hpp"
#include "service/client/logged_calls.hpp"
#include "service/client/raw_call.hpp"

namespace espalier {

struct ReplayCounts {
  std::int64_t same = 0;
  // Ended as they did for want of time, room, a client or a permission, which is not the same every
  // time.
  std::int64_t not_repeatable = 0;
  std::int64_t out_of_reach = 0;  // about a state that nothing in the log leads to
};

// A call whose answer is not the logged one.
struct ReplayDifference {
  const LoggedCall* call = nullptr;
  std::string what;
};

// Does with holds what the server does without a call: adds those that a state of the log began
// with, and lets those expire that did. Both return the position that this leads to.
struct HoldsOfServer {
  std::function<Result<StatePosition>(const std::string& state_name, std::vector<Hold> holds)> add;
  std::function<Result<StatePosition>(const std::string& state_name,
                                      const std::vector<std::string>& ids)>
      expire;
};

// Replays one run on a server that holds no state, and on which no hold expires by itself. Calls
// are made one after the other, each on the state that its answer was given on, so that it makes no
// difference which of several calls at once was logged first.
class Replay {
 public:
  // `run`, and what holds its messages, outlive this.
  Replay(std::shared_ptr<grpc::Channel> channel, HoldsOfServer holds, const LoggedRun& run);

  // Lets calls begin as far apart as they did in the log, divided by `speed`; 0: without a wait.
  void SetSpeed(double speed) { speed_ = speed; }

  // Makes all calls, up to the first difference. Errors: the server cannot be reached.
  Result<std::optional<ReplayDifference>> Run();

  const ReplayCounts& counts() const { return counts_; }
  // Returns the calls that have no end in the log, with how they ended now.
  const std::vector<ReplayDifference>& unanswered() const { return unanswered_; }

  // A state as loads that make it.
  struct State {
    v1::StatePosition position;  // as logged
    std::vector<std::string> chunks;
    std::vector<std::string> holds;  // ListHoldsResponses; none: it has none
  };
  // One call, with all that is needed to repeat it.
  struct Cut {
    const LoggedCall* call = nullptr;
    std::vector<const LoggedCall*> changes;  // that led to the states that it was answered on
    std::vector<State> states;               // these states themselves
    std::string difference;                  // of its answer; empty: it is the same
  };
  // Makes only what a call needs, and the call. Errors: kNotFound when there is no such call, or
  // nothing in the log leads to its state.
  Result<Cut> CutTo(std::int64_t call);

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // epoch and generation, as logged

  // A state that the server has.
  struct ServerState {
    std::uint64_t generation = 0;  // as logged
    v1::StatePosition there;       // as the server calls it
    std::string name;
    std::vector<const LoggedCall*> changes;  // since it was last loaded, the load included
  };
  // The states that a call was answered on, and the one that it leads to, by its answer.
  struct Place {
    std::vector<Key> on;          // that it was answered on
    std::optional<Key> produces;  // that it leads to
    bool loads = false;           // whatever was there before
    bool repeatable = true;
  };

  Place PlaceOf(const LoggedCall& call) const;
  void NoteExpired(const LoggedCall& call);
  bool IsBeforeItsExpiry(const LoggedCall& call) const;
  void Visit(std::size_t position);
  bool Prepare(std::size_t position);
  bool Reach(const Key& key);
  void AskAllOn(const Key& key);
  void Make(std::size_t position);
  void Learn(const LoggedCall& call, const Place& place, const RawAnswer& answer);
  bool IsWithoutTheStateBefore(const Place& place) const;
  void Expire(std::size_t position);
  Result<void> RestoreHolds(ServerState& held);
  std::int64_t ShiftOf(const std::string& state_name) const;
  std::string Compare(const LoggedCall& call, const RawAnswer& answer) const;
  std::string CompareMessages(const LoggedCall& call, std::string_view logged,
                              std::string_view now) const;
  std::string CompareProblems(const LoggedCall& call, const v1::HoldProblems& logged,
                              const RawAnswer& answer) const;
  std::vector<std::string> Translated(const LoggedCall& call) const;
  void ToServer(v1::StatePosition& position) const;
  void ToLogged(v1::StatePosition& position) const;
  Result<State> ReadState(const ServerState& held, const Key& key) const;
  void WaitForTurn(const LoggedCall& call);
  // Returns whether nothing more is to be done.
  bool Over() const { return difference_.has_value() || unreachable_.has_value(); }

  const std::shared_ptr<grpc::Channel> channel_;
  const HoldsOfServer holds_;
  const std::vector<LoggedCall>& calls_;
  std::vector<Place> places_;  // of the calls
  std::vector<bool> visited_;
  std::map<Key, std::size_t> producers_;  // what leads to a state
  std::map<Key, std::size_t> anew_;       // what makes it whatever was there before
  std::map<Key, std::size_t> holds_of_;   // what tells the holds of a state of `anew_`
  std::set<std::pair<std::string, std::string>> expired_;  // state and id, of the calls before
  std::map<Key, std::vector<std::size_t>> asked_on_;
  std::map<std::uint64_t, ServerState> held_;             // by epoch, as logged
  std::map<std::uint64_t, std::uint64_t> logged_epochs_;  // by those of the server
  bool loads_alone_ = false;                              // the call that is compared
  bool ask_all_ = true;                                   // else only what is needed
  double speed_ = 0;
  std::chrono::steady_clock::time_point start_;
  ReplayCounts counts_;
  std::optional<ReplayDifference> difference_;
  std::optional<Error> unreachable_;
  std::vector<ReplayDifference> unanswered_;
};

}  // namespace espalier
