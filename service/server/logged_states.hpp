// Writes the states of a server into its log of requests.
#pragma once

#include <string>

#include "host/live/hold_clock.hpp"
#include "host/live/state_store.hpp"
#include "host/model/work_budget.hpp"
#include "service/server/request_log.hpp"

namespace espalier {

// Writes the state of a name, if one is loaded, and its holds as they are at `now`, as a client
// would load it. Warns where `budget` does not have the memory of a copy, which it gets back.
void LogState(const std::string& name, StateStore& store, HoldClock::TimePoint now, RequestLog& log,
              WorkBudget& budget);

}  // namespace espalier
