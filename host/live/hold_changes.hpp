// Declares what is asked of the holds of a state, and why it was refused.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "host/live/ended_holds.hpp"
#include "host/live/hold.hpp"
#include "host/live/loaded_configuration.hpp"
#include "host/live/lost_holds.hpp"
#include "host/live/state_delta.hpp"
#include "host/live/state_position.hpp"
#include "host/model/result.hpp"

namespace espalier {

// A problem with one hold that a call names.
struct HoldProblem {
  std::string id;
  std::optional<HoldEnd> ended;  // nullopt: it is not known, or `held`
  bool held = false;             // the workload that is placed has it already
  std::string text;              // a clause without a full stop
};

// Why a change of holds was refused: the problems or, without any, the error of the state.
struct HoldRefusal {
  Error error;  // its message tells the first problems
  std::vector<HoldProblem> problems;
};

using HoldResult = tl::expected<StatePosition, HoldRefusal>;

// Makes the refusal of a change for `problems`, which are not empty.
tl::unexpected<HoldRefusal> Refused(std::vector<HoldProblem> problems);
// Makes that of an error that is about no hold.
tl::unexpected<HoldRefusal> Refused(Error error);

// A report that a controller makes in the place of holds.
struct HoldConfirmation {
  std::vector<std::string> ids;
  std::optional<StatePosition> base;  // nullopt: whatever is current
  StateDelta delta;
  std::optional<SharedConfiguration> configuration;
  bool reported = false;  // the state has the usage already; `delta` need not
};

// Checks that ids of holds are named, each once. Errors: kBadInput.
Result<void> CheckHoldIds(const std::vector<std::string>& ids);

// Checks that a hold may last so many seconds. Errors: kBadInput.
Result<void> CheckHoldSeconds(std::int64_t seconds);

// The usage that a change reports. Refers to the change.
class ReportedUsage {
 public:
  explicit ReportedUsage(const StateDelta& delta);
  // Checks that there is usage in the place of a hold: its workload by key, or each leaf of it.
  // Errors: kBadInput.
  Result<void> CheckIsOf(const Hold& hold) const;

 private:
  std::set<ObjectKey> workloads_;                                   // with usage
  std::set<std::pair<std::string_view, std::string_view>> leaves_;  // flavor and leaf
};

// Says of a hold why it is none.
HoldProblem ProblemOf(const std::string& id, std::optional<HoldEnd> ended);

}  // namespace espalier
