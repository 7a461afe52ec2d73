// Converts the messages in holds.proto.
#pragma once

#include <string>
#include <vector>

#include "espalier/v1/holds.pb.h"
#include "host/live/hold.hpp"
#include "host/live/hold_changes.hpp"
#include "host/live/lost_holds.hpp"
#include "service/wire/tables.hpp"

namespace espalier {

// Fills a message with a hold as it is at `now`; `usage`: with what it holds of each leaf.
void Fill(const Hold& hold, HoldClock::TimePoint now, bool usage, StringTable& strings,
          v1::Hold& message);

v1::LostHold ToProto(const LostHold& hold);
LostHold FromProto(const v1::LostHold& message);

v1::HoldProblemReason ToProto(const HoldProblem& problem);

}  // namespace espalier
