// Room that was placed, and that is kept for a workload until its controller reports it as usage.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/live/hold_clock.hpp"
#include "host/model/workload.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// The shortest and the longest time that a hold may be made or extended for, in seconds.
constexpr std::int64_t kShortestHold = 1;
constexpr std::int64_t kLongestHold = 86'400;

struct Hold {
  std::string id;      // NAMESPACE/NAME@GENERATION or POSITION@GENERATION
  ObjectKey workload;  // may be empty
  std::string owner;   // for people
  std::string maker;   // who placed it, as access rules name them; empty: who that was is not known
  // One entry per leaf, ordered by flavor and leaf, amounts from 1 to kMostAdmitted; empty in a
  // change: the hold ends.
  std::vector<FlavorLeafUsage> usage;
  HoldClock::TimePoint made{};
  HoldClock::TimePoint expires{};
  bool operator==(const Hold&) const = default;
};

using Holds = std::map<std::string, std::shared_ptr<const Hold>, std::less<>>;  // by id

// Returns the id of the hold of a workload that a change to `generation` begins: by its key or,
// where that is empty, by its position in the batch.
std::string HoldId(const ObjectKey& workload, std::size_t position, std::uint64_t generation);

// Returns the hold that a workload has, or null. One without a key has none.
const Hold* FindHoldOf(const Holds& holds, const ObjectKey& workload);

}  // namespace espalier
