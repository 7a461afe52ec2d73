// Converts the messages in holds.proto.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "espalier/v1/holds.pb.h"
#include "host/live/hold.hpp"
#include "host/live/hold_changes.hpp"
#include "host/live/lost_holds.hpp"
#include "host/live/state_position.hpp"
#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"
#include "service/wire/tables.hpp"

namespace espalier {

// Fills a message with a hold as it is at `now`; `usage`: with what it holds of each leaf.
void Fill(const Hold& hold, HoldClock::TimePoint now, bool usage, StringTable& strings,
          v1::Hold& message);

// Cuts the holds of a state into the messages of a stream.
class PagesOfHolds {
 public:
  // `holds` are those of `position`, as they are at `now`; `usage` as in Fill.
  PagesOfHolds(StatePosition position, std::vector<std::shared_ptr<const Hold>> holds,
               HoldClock::TimePoint now, bool usage)
      : position_(position), holds_(std::move(holds)), now_(now), usage_(usage) {}

  // Fills the next message, which is empty. Returns whether more follow.
  bool Next(v1::ListHoldsResponse& page);

 private:
  const StatePosition position_;
  const std::vector<std::shared_ptr<const Hold>> holds_;
  const HoldClock::TimePoint now_;
  const bool usage_;
  std::size_t next_ = 0;
};

// Appends the holds of a message, with what they hold and without their times. Errors: kBadInput.
Result<void> AppendHolds(const v1::ListHoldsResponse& message, WorkBudget& budget,
                         std::vector<Hold>& holds);

v1::LostHold ToProto(const LostHold& hold);
LostHold FromProto(const v1::LostHold& message);

v1::HoldProblemReason ToProto(const HoldProblem& problem);

}  // namespace espalier
